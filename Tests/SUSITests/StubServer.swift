import Foundation
import Synchronization

@testable import SUSI

/// A server on a free port that sends the same bytes to every connection, whatever it receives.
final class StubServer: Sendable {
    enum Answer: Sendable {
        case ok(String)
        case bytes(Data)
        /// Sends these bytes forever.
        case endless(Data)
        /// Sends nothing.
        case silence
    }

    let port: UInt16
    private let listener: Int32
    private let answer: Answer
    private let requests = Mutex<[String]>([])
    private let open = Mutex<(sockets: [Int32], isStopped: Bool)>(([], false))

    var url: String { "http://127.0.0.1:\(port)" }
    /// The first lines of the requests received.
    var requestLines: [String] { requests.withLock { $0 } }

    init(_ answer: Answer) throws {
        self.answer = answer
        listener = socket(AF_INET, Self.stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw SusiError("no free port: \(String(cString: strerror(errno)))") }
        port = UInt16(bigEndian: address.sin_port)
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        Thread.detachNewThread { [self] in accept() }
    }

    private static var stream: Int32 {
        #if canImport(Glibc)
            Int32(SOCK_STREAM.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    /// Stops the server and closes every connection.
    func stop() {
        let sockets = open.withLock { open in
            open.isStopped = true
            return open.sockets
        }
        for socket in sockets + [listener] { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    private func accept() {
        while true {
            #if canImport(Glibc)
                let socket = Glibc.accept(listener, nil, nil)
            #else
                let socket = Darwin.accept(listener, nil, nil)
            #endif
            guard socket >= 0 else { break }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            let isStopped = open.withLock { open in
                open.sockets.append(socket)
                return open.isStopped
            }
            if isStopped { shutdown(socket, Int32(SHUT_RDWR)) }
            Thread.detachNewThread { [self] in serve(socket) }
        }
        close(listener)
    }

    private func serve(_ socket: Int32) {
        var received = Data()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while received.range(of: Data("\r\n\r\n".utf8)) == nil {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            received += buffer[..<count]
        }
        let line = String(decoding: received.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        requests.withLock { $0.append(line) }
        switch answer {
        case .ok(let text):
            _ = send(
                socket,
                Data("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)".utf8))
        case .bytes(let data): _ = send(socket, data)
        case .endless(let data):
            guard send(socket, Data("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8)) else { break }
            while send(socket, data) {}
        case .silence: while recv(socket, &buffer, buffer.count, 0) > 0 {}
        }
        open.withLock { $0.sockets.removeAll { $0 == socket } }
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    private func send(_ socket: Int32, _ data: Data) -> Bool {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                #if canImport(Glibc)
                    Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                #else
                    Darwin.send(socket, bytes.baseAddress, bytes.count, 0)
                #endif
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
