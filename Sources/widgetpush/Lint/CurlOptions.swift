/// Which options of curl take a value, as far as that is needed to tell a URL from one.
enum CurlOptions {
  /// The letters of options that take a value.
  static let letters = "AbcCdDeEFHKmoPQrtTuUwxXyYz"

  /// The long options that take a value, but those that say something about the request.
  static let silent: Set<String> = [
    "--abstract-unix-socket", "--alt-svc", "--aws-sigv4", "--cacert", "--capath", "--cert-type", "--ciphers", "--connect-timeout",
    "--connect-to", "--continue-at", "--cookie", "--cookie-jar", "--create-file-mode", "--crlfile", "--curves", "--delegation",
    "--dns-interface", "--dns-ipv4-addr", "--dns-ipv6-addr", "--dns-servers", "--doh-url", "--dump-header", "--egd-file", "--engine",
    "--etag-compare", "--etag-save", "--expect100-timeout", "--form-escape", "--happy-eyeballs-timeout-ms", "--haproxy-clientip",
    "--hostpubmd5", "--hsts", "--interface", "--ip-tos", "--ipfs-gateway", "--keepalive-time", "--key", "--key-type", "--libcurl",
    "--limit-rate", "--local-port", "--max-filesize", "--max-redirs", "--max-time", "--netrc-file", "--noproxy", "--oauth2-bearer",
    "--output", "--output-dir", "--parallel-max", "--pass", "--pinnedpubkey", "--preproxy", "--proto", "--proto-default",
    "--proto-redir", "--proxy", "--proxy-cacert", "--proxy-cert", "--proxy-header", "--proxy-key", "--proxy-pass", "--proxy-user",
    "--proxy1.0", "--quote", "--random-file", "--range", "--rate", "--referer", "--request-target", "--resolve", "--retry",
    "--retry-delay", "--retry-max-time", "--socks4", "--socks4a", "--socks5", "--socks5-hostname", "--speed-limit", "--speed-time",
    "--stderr", "--time-cond", "--tls-max", "--tls13-ciphers", "--trace", "--trace-ascii", "--trace-config", "--unix-socket",
    "--url-query", "--user", "--user-agent", "--variable", "--vlan-priority", "--write-out",
  ]

  /// The long name of an option that says something about the request, by its letter.
  static let longNames: [Character: String] = [
    "H": "--header", "d": "--data", "X": "--request", "E": "--cert", "K": "--config", "G": "--get", "I": "--head", "T": "--upload-file",
    "F": "--form", ":": "--next", "0": "--http1.0",
  ]
}
