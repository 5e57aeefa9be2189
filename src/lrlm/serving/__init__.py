"""The explorer: a web page and an API that show what models say of texts and topics."""
