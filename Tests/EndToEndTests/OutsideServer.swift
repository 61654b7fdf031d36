import NIOCore
import NIOPosix
import Synchronization

/// An external HTTP server, as friendly or as hostile as a test wants. It gives one answer per connection.
final class OutsideServer: Sendable {
    struct Request: Sendable {
        let method: String
        let path: String
        /// The lines of the head after the first.
        let head: String
        let body: String
    }

    enum Answer: Sendable {
        case json(String)
        /// The status line's code and text, further header lines, and the body.
        case status(String, head: String = "", body: String = "")
        /// Never answers.
        case silence
        /// A valid head, then a byte every now and then, for ever.
        case trickle
        /// A valid head, then as many bytes as the other side accepts, for ever.
        case flood
    }

    private let answer: @Sendable (Request) -> Answer
    private let log = Mutex<[Request]>([])

    private init(_ answer: @escaping @Sendable (Request) -> Answer) { self.answer = answer }

    var requests: [Request] { log.withLock { $0 } }

    func count(_ path: String) -> Int { log.withLock { $0.count { $0.path == path } } }

    /// - Parameter answer: called on an event loop, so it must not block.
    static func with(
        _ answer: @escaping @Sendable (Request) -> Answer,
        _ body: (_ server: OutsideServer, _ address: String) async throws -> Void
    ) async throws {
        let server = OutsideServer(answer)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body(server, "http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
        } catch {
            try? await channel.close()
            throw error
        }
        try await channel.close()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let server: OutsideServer
        private var text = ""

        init(_ server: OutsideServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard let end = text.firstRange(of: "\r\n\r\n") else { return }
            let lines = text[..<end.lowerBound].split(separator: "\r\n", maxSplits: 1).map(String.init)
            let head = lines.count > 1 ? lines[1] : ""
            let length = head.firstMatch(of: /(?i)content-length: *([0-9]+)/).flatMap { Int($0.1) } ?? 0
            let body = String(text[end.upperBound...])
            guard body.utf8.count >= length else { return }
            let words = lines[0].split(separator: " ").map(String.init)
            text = ""
            let request = Request(method: words[0], path: words.count > 1 ? words[1] : "", head: head, body: body)
            server.log.withLock { $0.append(request) }
            reply(server.answer(request), context)
        }

        private func reply(_ answer: Answer, _ context: ChannelHandlerContext) {
            switch answer {
            case .json(let text): write(status: "200 OK", "Content-Type: application/json\r\n", text, context)
            case .status(let status, let head, let text): write(status: status, head, text, context)
            case .silence: break
            case .trickle:
                begin(context)
                drip(1, every: .milliseconds(100), context)
            case .flood:
                begin(context)
                drip(64 << 10, every: .milliseconds(1), context)
            }
        }

        private func write(status: String, _ head: String, _ text: String, _ context: ChannelHandlerContext) {
            let whole =
                "HTTP/1.1 \(status)\r\n\(head)Content-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: whole))).whenComplete { _ in
                bound.value.close(promise: nil)
            }
        }

        private func begin(_ context: ChannelHandlerContext) {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
        }

        private func drip(_ count: Int, every pause: TimeAmount, _ context: ChannelHandlerContext) {
            let chunk = "\(String(count, radix: 16))\r\n\(String(repeating: " ", count: count))\r\n"
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: pause) {
                let (handler, context) = bound.value
                guard context.channel.isActive else { return }
                if context.channel.isWritable {
                    context.writeAndFlush(handler.wrapOutboundOut(ByteBuffer(string: chunk)), promise: nil)
                }
                handler.drip(count, every: pause, context)
            }
        }
    }
}
