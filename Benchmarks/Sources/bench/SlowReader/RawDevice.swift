import Foundation
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// A device without a file that wants everything, on its own thread. It reads only on request.
final class RawDevice: Sendable {
    /// All calls block; they run one after the other on this queue.
    private let queue = DispatchQueue(label: "bench.raw-device")
    private let state: State

    /// Used only on `queue`, which guards it.
    private final class State: @unchecked Sendable {
        var socket: RawWebSocket?
        let codec = MessageCodec(schema: BenchModels.schema)
    }

    init() { state = State() }

    /// Connects, and reads until the content is complete.
    func open(port: Int, token: String) async throws {
        try await perform { state in
            let socket = try RawWebSocket(port: port, path: "/sync")
            state.socket = socket
            let classes = BenchModels.schema.classes.filter { $0.owner == nil }
            let wanted = SubscriptionSet(
                version: 1,
                subscriptions: classes.map {
                    Subscription(name: $0.name, className: $0.name, predicate: .constant(true))
                })
            var generator = SystemRandomNumberGenerator()
            let hello = Hello(
                accessToken: token, client: .random(using: &generator), position: .none, activeSubscriptions: .empty,
                wantedSubscriptions: wanted, acknowledged: 0, classes: HelloClass.describe(BenchModels.schema))
            try socket.send(state.codec.encode(.hello(hello)))
            while try Self.read(state) != 1 {}
        }
    }

    /// Reads until a listing has this price, which the last change sets.
    func read(untilPrice price: Int64) async throws {
        let column = BenchModels.schema["Listing"]?.columnIndex("price")
        let listing = BenchModels.schema.index(of: "Listing")
        try await perform { state in
            var isThere = false
            while !isThere {
                _ = try Self.read(state) { frame in
                    for block in frame.blocks where block.classIndex == listing {
                        guard let place = block.columns.firstIndex(where: { $0 == column }) else { continue }
                        isThere =
                            isThere
                            || (0..<block.rowCount).contains {
                                block.value(row: $0, position: place, schema: BenchModels.schema) == .int(price)
                            }
                    }
                }
            }
        }
    }

    /// Tells the gateway that this device is alive, without reading.
    func sendPong() async throws { try await perform { try $0.socket?.sendPong() } }

    /// Reads one message. At the end of a batch, acknowledges it and returns its subscription version.
    private static func read(_ state: State, _ look: (BatchFrame) -> Void = { _ in }) throws -> Int64? {
        guard let socket = state.socket else { throw BenchError("The device is not connected.") }
        switch try state.codec.decodeServerMessage(socket.receive()) {
        case .frame(let frame): look(frame)
        case .end(let end):
            try socket.send(state.codec.encode(.applied(tick: end.position.tick)))
            return end.position.subscriptionVersion
        case .failure(let failure): throw BenchError("The gateway ended the session: \(failure)")
        case .reset(let reason): throw BenchError("The gateway asked to start over: \(reason)")
        case .welcome: break
        }
        return nil
    }

    private func perform(_ body: @escaping @Sendable (State) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [state] in continuation.resume(with: Result { try body(state) }) }
        }
    }
}
