"""The clients under test, each behind the same few calls.

Every client finds the CA through the environment variable SSL_CERT_FILE; nothing in a client is changed but its host and port. Each module
here has a class `Client`:

- `Client(provider)` makes a client that has no connection yet;
- `push(push)` sends one push and returns the Answer, `burst(first, pushes)` sends `first`, and once that is answered all `pushes` as fast
  as the client can, on the same connection where the client keeps one; it returns the answers in order, that of `first` included;
- `refusal(status, reason)` is the `meaning` of an Answer with which the client tells this refusal;
- `close()` ends its connections.

Clients whose provider token is made here take `issued`, its iat; those have `signs_here = True`.
"""

MODULES = {
    "aioapns": "with_aioapns",
    "apns2-up": "with_apns2",
    # The same interface as apns2-up, on another HTTP/2 client. Both bring a package named apns2, so scripts/venv lays this one apart.
    "mopyapns": "with_apns2",
    "kalyke-apns": "with_kalyke",
    "httpx": "with_httpx",
    "curl": "with_curl",
}
