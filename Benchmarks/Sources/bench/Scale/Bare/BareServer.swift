import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// A WebSocket server that consists only of NIO's parts, and sends each connection what a gateway would send. It
/// shows the minimum cost of a gateway on NIO.
final class BareServer: Sendable {
    /// The number of connections that the system queues until they're accepted.
    private static let backlog: Int32 = 4_096

    private let group = MultiThreadedEventLoopGroup.singleton
    /// By event loop.
    private let connections: Mutex<[ObjectIdentifier: Loop]> = Mutex([:])
    private let codec = MessageCodec(schema: LightInbox.schema)

    private struct Loop {
        let loop: any EventLoop
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    /// Listens on a free port of 127.0.0.1, and returns the port.
    func start() async throws -> Int {
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: Self.backlog)
            .childChannelInitializer { channel in
                let upgrader = NIOWebSocketServerUpgrader(
                    shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
                    upgradePipelineHandler: { channel, _ in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(BareConnection(server: self))
                        }
                    })
                return channel.pipeline.configureHTTPServerPipeline(
                    withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return channel.localAddress?.port ?? 0
    }

    /// Sends each commit's value to all connections at a steady rate.
    /// - Returns: when sending each value began, in nanoseconds.
    func send(_ count: Int, perSecond: Double, firstCommit: Int) async throws -> [Int64] {
        let start = Monotonic.nanoseconds + 50_000_000
        var times: [Int64] = []
        for place in 0..<count {
            let wait = start + Int64(Double(place) / perSecond * 1e9) - Monotonic.nanoseconds
            if wait > 0 { try await Task.sleep(for: .nanoseconds(wait), tolerance: .zero) }
            times.append(Monotonic.nanoseconds)
            let frame = WebSocketFrame(
                fin: true, opcode: .binary, data: ByteBuffer(bytes: codec.encode(.frame(batch(firstCommit + place)))))
            let end = Self.end(codec, tick: Int64(firstCommit + place))
            for loop in connections.withLock({ Array($0.values) }) {
                loop.loop.execute {
                    for channel in loop.channels.values {
                        channel.write(frame, promise: nil)
                        channel.writeAndFlush(end, promise: nil)
                    }
                }
            }
        }
        return times
    }

    func opened(_ channel: any Channel) {
        channel.writeAndFlush(Self.end(codec, tick: 1), promise: nil)
        connections.withLock { connections in
            let loop = channel.eventLoop
            connections[ObjectIdentifier(loop), default: Loop(loop: loop)].channels[ObjectIdentifier(channel)] = channel
        }
    }

    func closed(_ channel: any Channel) {
        _ = connections.withLock {
            $0[ObjectIdentifier(channel.eventLoop)]?.channels.removeValue(forKey: ObjectIdentifier(channel))
        }
    }

    /// What a gateway sends for a changed price.
    private func batch(_ commit: Int) -> BatchFrame {
        let schema = LightInbox.schema
        guard let index = schema.index(of: "Listing"), let price = schema[index].columnIndex("price"),
            let key = schema[index].primaryKeyIndex,
            let id = ObjectId(
                bytes: ListingKey.bytes(ScaleListings.firstShared + commit % ScaleListings.sharedCount))
        else { return BatchFrame(sequence: 0) }
        var block = RowBlock(schema: schema, classIndex: index, columns: [key, price], isWhole: false)
        block.vectors[0].append(.objectId(id))
        block.vectors[1].append(.int(Int64(commit)))
        block.finishRow()
        return BatchFrame(sequence: 0, blocks: [block])
    }

    private static func end(_ codec: MessageCodec, tick: Int64) -> WebSocketFrame {
        // As long as a gateway's: hashes of eight bytes, a token of eight bytes.
        let position = Position(
            tick: tick, token: .max, subscriptionVersion: 1, rulesFingerprint: .max, schemaFingerprint: .max)
        let end = BatchEnd(
            position: position, serverTime: Stamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)),
            acknowledged: 0, frameCount: 1)
        return WebSocketFrame(fin: true, opcode: .binary, data: ByteBuffer(bytes: codec.encode(.end(end))))
    }
}

/// Registers a connection when its device sends a hello, and ignores everything else that the device sends.
private final class BareConnection: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let server: BareServer
    private var isOpen = false

    init(server: BareServer) { self.server = server }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOpen, unwrapInboundIn(data).opcode == .binary else { return }
        isOpen = true
        server.opened(context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) { server.closed(context.channel) }
}
