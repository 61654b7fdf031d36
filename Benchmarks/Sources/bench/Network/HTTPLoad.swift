import Foundation

/// Generates requests on several connections from one thread. Each connection waits for a response before its next
/// request, so the load costs the machine little compared with the server. Calls block. Not thread-safe.
final class HTTPLoad {
    /// The result.
    struct Outcome: Sendable {
        var perSecond: Double
        /// The time of each request, from sending it until the whole response has arrived.
        var milliseconds: [Double]
    }

    private struct Connection {
        var socket: Int32
        var buffer: [UInt8] = []
        var sentAt: Int64 = 0
    }

    private static let chunkByteCount = 64 << 10
    private static let headEnd = Array("\r\n\r\n".utf8)
    private static let lengthField = Array("content-length:".utf8)
    /// How long the server may leave all connections without a response, in milliseconds.
    private static let silenceLimitMilliseconds: Int32 = 30_000

    private var connections: [Connection] = []
    private var chunk = [UInt8](repeating: 0, count: HTTPLoad.chunkByteCount)

    init(port: Int, connectionCount: Int) throws {
        for _ in 0..<connectionCount {
            let socket = try RawSocket.connected(port: port)
            connections.append(Connection(socket: socket))
            var one: Int32 = 1
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    deinit {
        for connection in connections { close(connection.socket) }
    }

    /// A request's bytes.
    static func request(_ method: String, _ path: String, bearer: String? = nil, body: String = "") -> [UInt8] {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(body.utf8.count)\r\n"
        if let bearer { head += "Authorization: Bearer \(bearer)\r\n" }
        if !body.isEmpty { head += "Content-Type: application/json\r\n" }
        return Array((head + "\r\n" + body).utf8)
    }

    /// - Parameter next: makes the bytes of the next request on the connection with this number, from 0.
    /// - Throws: ``BenchError`` for any status but 200.
    func run(seconds: Double, next: (_ connection: Int) -> [UInt8]) throws -> Outcome {
        let start = Monotonic.nanoseconds
        let end = start + Int64(seconds * 1e9)
        var milliseconds: [Double] = []
        milliseconds.reserveCapacity(Int(seconds * 20_000))
        for place in connections.indices { try send(next(place), place) }
        var open = connections.count
        while open > 0 {
            var polls = connections.map {
                pollfd(fd: $0.sentAt > 0 ? $0.socket : -1, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&polls, nfds_t(polls.count), Self.silenceLimitMilliseconds) > 0 else {
                throw BenchError("The server answered no request within \(Self.silenceLimitMilliseconds) ms.")
            }
            for place in polls.indices where polls[place].revents != 0 {
                guard try receive(place) else { continue }
                let now = Monotonic.nanoseconds
                milliseconds.append(Double(now - connections[place].sentAt) / 1e6)
                if now < end {
                    try send(next(place), place)
                } else {
                    connections[place].sentAt = 0
                    open -= 1
                }
            }
        }
        let elapsed = Double(Monotonic.nanoseconds - start) / 1e9
        return Outcome(perSecond: Double(milliseconds.count) / elapsed, milliseconds: milliseconds)
    }

    private func send(_ bytes: [UInt8], _ place: Int) throws {
        connections[place].sentAt = Monotonic.nanoseconds
        let sent = bytes.withUnsafeBytes { Foundation.send(connections[place].socket, $0.baseAddress, $0.count, 0) }
        guard sent == bytes.count else { throw BenchError("The server stopped accepting requests.") }
    }

    /// - Returns: whether the whole response has arrived.
    private func receive(_ place: Int) throws -> Bool {
        let received = recv(connections[place].socket, &chunk, chunk.count, 0)
        guard received > 0 else { throw BenchError("The server closed a connection.") }
        connections[place].buffer += chunk[..<received]
        let buffer = connections[place].buffer
        guard let headEnd = Self.firstRange(of: Self.headEnd, in: buffer) else { return false }
        let head = buffer[..<headEnd].map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }
        guard let field = Self.firstRange(of: Self.lengthField, in: head) else {
            throw BenchError("An answer has no length.")
        }
        var length = 0
        for byte in head[field...].drop(while: { $0 == 32 }) {
            guard byte >= 48, byte <= 57 else { break }
            length = length * 10 + Int(byte - 48)
        }
        guard buffer.count >= headEnd + length else { return false }
        guard head[9..<12].elementsEqual("200".utf8) else {
            throw BenchError("The server answered: \(String(decoding: buffer, as: UTF8.self))")
        }
        connections[place].buffer.removeAll(keepingCapacity: true)
        return true
    }

    /// - Returns: the index after the first match.
    private static func firstRange(of pattern: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        for start in 0...(bytes.count - pattern.count)
        where bytes[start] == pattern[0] && bytes[start..<start + pattern.count].elementsEqual(pattern) {
            return start + pattern.count
        }
        return nil
    }
}
