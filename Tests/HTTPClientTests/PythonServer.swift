import Foundation

/// A small server in Python on a free loopback port, of another make than the client under test.
final class PythonServer {
  let port: Int
  let folder: URL
  private let process = Process()

  /// Starts `program`, which prints its port as its first line; `openssl` has made `server.pem` and `server.key` for localhost.
  init(_ program: String) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("widgetpush-http-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let maker = Process()
    maker.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    maker.arguments =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out server.pem -days 2 -subj /CN=test"
      .split(separator: " ").map(String.init) + ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    maker.currentDirectoryURL = folder
    maker.standardError = FileHandle.nullDevice
    try maker.run()
    maker.waitUntilExit()

    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-u", "-c", program]
    process.currentDirectoryURL = folder
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    var line: [UInt8] = []
    while let byte = try pipe.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") { line.append(byte) }
    guard let port = Int(String(decoding: line, as: UTF8.self)) else { throw CocoaError(.executableLoad) }
    self.port = port
  }

  deinit {
    // Not SIGTERM: children inherit the blocked signals of the thread that starts them.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  /// The path of the certificate to trust.
  var caFile: String { folder.appendingPathComponent("server.pem").path }

  /// Answers with what it was asked, as lines of text, and with the client's port.
  static func echo(tls: Bool) -> String {
    """
    import http.server, ssl, sys
    class Handler(http.server.BaseHTTPRequestHandler):
      protocol_version = 'HTTP/1.1'
      def answer(self):
        length = int(self.headers.get('content-length') or 0)
        body = self.rfile.read(length)
        text = self.requestline + '\\n' + ''.join(f'{k.lower()}: {v}\\n' for k, v in self.headers.items()) + '\\n'
        payload = text.encode() + body
        self.send_response(418 if 'teapot' in self.path else 200)
        self.send_header('Content-Length', str(len(payload)))
        self.send_header('X-Port', str(self.client_address[1]))
        self.send_header('X-Twice', 'one'); self.send_header('X-Twice', ' two ')
        self.end_headers()
        if self.command != 'HEAD': self.wfile.write(payload)
      do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer
      def log_message(self, *_): pass
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    \(tls ? "context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain('server.pem', 'server.key')" : "")
    \(tls ? "server.socket = context.wrap_socket(server.socket, server_side=True)" : "")
    print(server.server_address[1], flush=True)
    server.serve_forever()
    """
  }

  /// Accepts one connection after the other, reads a little, and does what `reaction` says with `c`, the connection.
  static func raw(_ reaction: String) -> String {
    """
    import socket, time
    s = socket.create_server(('127.0.0.1', 0))
    print(s.getsockname()[1], flush=True)
    kept = []
    while True:
      c, _ = s.accept()
      c.recv(4096)
      \(reaction)
    """
  }
}
