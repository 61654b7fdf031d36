import Foundation

/// Sequential requests on one persistent connection to 127.0.0.1 (RFC 9112, section 9.3). Calls block. Not
/// thread-safe.
final class RawHTTP {
    /// The longest allowed head and body of a response, in bytes.
    static let maximumHeadByteCount = 8 << 10
    static let maximumBodyByteCount = 64 << 10

    private let socket: RawSocket
    private let port: Int

    init(port: Int) throws {
        socket = try RawSocket(port: port)
        self.port = port
    }

    /// Sends a request and waits for the whole response.
    /// - Parameter body: JSON.
    /// - Returns: the body of the response.
    /// - Throws: ``BenchError`` for any status but 200.
    func request(_ method: String, _ path: String, bearer: String? = nil, body: Data = Data()) throws -> Data {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: \(body.count)\r\n"
        if let bearer { head += "Authorization: Bearer \(bearer)\r\n" }
        if !body.isEmpty { head += "Content-Type: application/json\r\n" }
        try socket.write(Array((head + "\r\n").utf8) + body)
        let answer = try socket.head(maximumByteCount: Self.maximumHeadByteCount)
        let lines = answer.split(separator: "\r\n")
        guard let length = Self.contentLength(lines), length <= Self.maximumBodyByteCount else {
            throw BenchError("\(method) \(path): the answer's length is missing or too large: \(lines.first ?? "")")
        }
        let content = Data(try socket.bytes(length))
        guard lines[0].hasPrefix("HTTP/1.1 200") else {
            throw BenchError("\(method) \(path): \(lines[0]) \(String(decoding: content, as: UTF8.self))")
        }
        return content
    }

    private static func contentLength(_ lines: [Substring]) -> Int? {
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "content-length" else { continue }
            return Int(parts[1].trimmingCharacters(in: .whitespaces))
        }
        return nil
    }
}
