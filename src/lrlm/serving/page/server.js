// Ask the server. Where it wants a token, the user is asked for it once.

import { find } from "./dom.js";

const KEY = "lrlm-token";
let token = null;
let asking = null;

try {
  token = sessionStorage.getItem(KEY);
} catch {
  token = null; // the browser keeps nothing; then the token is asked for again
}

export function setToken(given) {
  token = given;
  try {
    sessionStorage.setItem(KEY, given);
  } catch {
    // see above
  }
}

export const hasToken = () => token !== null;

function askForToken() {
  asking ??= new Promise((resolve) => {
    const dialog = find("token-dialog");
    dialog.addEventListener("close", () => {
      setToken(find("token").value.trim());
      asking = null;
      resolve();
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}

async function send(path, body, signal, headers = {}) {
  for (;;) {
    const all = { ...headers };
    if (token) all.authorization = `Bearer ${token}`;
    if (body !== undefined) all["content-type"] = "application/json";
    let answer;
    try {
      answer = await fetch(`api/v1/${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: all,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
        credentials: "omit",
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The server does not answer; is it still running?");
    }
    if (answer.status === 401) {
      await askForToken();
      continue;
    }
    if (!answer.ok) {
      const told = await answer.json().catch(() => ({}));
      throw new Error(told.error ?? `The server answered ${answer.status}.`);
    }
    return answer;
  }
}

export const ask = async (path, body, signal) => (await send(path, body, signal)).json();

export const askForText = async (path, body, signal) => (await send(path, body, signal)).text();

// Give every line of a stream to `take`, as soon as it is there.
export async function askForLines(path, body, signal, take) {
  const answer = await send(path, body, signal, { accept: "application/x-ndjson" });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) take(JSON.parse(line));
  }
}
