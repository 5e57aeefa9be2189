// Browsers start no worker for a page that was opened as a file. The search of this site runs in one:
// where there is no server, run its script in an empty frame of the page instead.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.onmessage = null
      this.onerror = null
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.documentElement.appendChild(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = data => {
        const { onmessage } = this
        setTimeout(() => onmessage?.call(this, new MessageEvent("message", { data })))
      }
      const script = inside.document.createElement("script")
      script.src = new URL(address, location.href).href
      script.onload = () => {
        const { waiting } = this
        this.waiting = null
        waiting.forEach(data => this.postMessage(data))
      }
      script.onerror = () => this.onerror?.(new ErrorEvent("error", { cancelable: true }))
      inside.document.documentElement.appendChild(script)
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.frame.contentWindow?.dispatchEvent(new MessageEvent("message", { data }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
