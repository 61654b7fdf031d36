import Foundation
import NIOCore
import NIOPosix
import TomboloChangesets
import TomboloSyncProtocol

/// Many devices without files on one event loop. Identical messages are encoded once for all of them.
///
/// Everything except `loop` and constants is used only on the loop.
final class LightCrew: @unchecked Sendable {
    /// Fewer connections than a gateway allows for one address.
    static let devicesPerAddress = 500
    /// Fewer devices than a server keeps for one user.
    static let devicesPerUser = 800
    static let connectTimeout = TimeAmount.seconds(60)
    /// How long all devices together may take to get their content.
    static let servingTimeout = TimeAmount.seconds(300)
    /// The gateway's ticks are acknowledged in order. This many encoded acknowledgements are kept.
    private static let rememberedTicks = 64

    struct Outcome: Sendable {
        /// From the first connection until the last device had its content.
        var seconds: Double
        var failureCount: Int
        var firstFailure: String
    }

    /// The events since the last report.
    struct Report: Sendable {
        /// Pairs: a commit's number, and when a device received it, in nanoseconds.
        var arrivals: [Int64]
        var lostCount: Int
        var wrongCount: Int
        var byteCount: Int
        var firstFailure: String
    }

    private struct Member {
        var client: ClientID
        var position = Position.none
        var hello = ByteBuffer()
        var channel: (any Channel)?
        var isServed = false
        var hasFailed = false
    }

    let opening: ByteBuffer
    let pong = LightFrame.masked(LightFrame.pong, [])
    /// By user, since different users may get different messages.
    private var inboxes: [LightInbox]
    private let codec = MessageCodec(schema: LightInbox.schema)
    var byteCount = 0

    private let loop: any EventLoop
    private let port: Int
    private let wish: ScaleWish
    private let tokens: [String]
    private let classes = HelloClass.describe(LightInbox.schema)
    private var members: [Member] = []
    private var next = 0
    private var window = 0
    private var underWayCount = 0
    private var openCount = 0
    private var servedCount = 0
    private var failureCount = 0
    private var startedAt: Int64 = 0
    private var whenServed: CheckedContinuation<Outcome, Never>?
    private var whenGone: CheckedContinuation<Void, Never>?
    private var isLeaving = false
    private var arrivals: [Int64] = []
    private var lostCount = 0
    private var wrongCount = 0
    private var firstFailure = ""
    private var appliedFrames: [Int64: ByteBuffer] = [:]

    init(port: Int, wish: ScaleWish, tokens: [String]) {
        loop = MultiThreadedEventLoopGroup.singleton.next()
        self.port = port
        self.wish = wish
        self.tokens = tokens
        inboxes = tokens.map { _ in LightInbox() }
        opening = ByteBuffer(
            string: "GET /sync HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
    }

    // MARK: For the process

    /// Connects new devices, and waits until each has its content.
    /// - Parameter window: the number of concurrent connection attempts.
    func connect(_ count: Int, window: Int) async -> Outcome {
        await withCheckedContinuation { done in
            loop.execute {
                self.members = (0..<count).map { _ in Member(client: ClientID(rawValue: .random(in: 1 ... .max))) }
                self.begin(window, done)
            }
        }
    }

    /// Reconnects all devices at once, each from its own position.
    func reconnect() async -> Outcome {
        await withCheckedContinuation { done in
            loop.execute { self.begin(self.members.count, done) }
        }
    }

    /// Closes all connections.
    func drop() async {
        await withCheckedContinuation { done in
            loop.execute {
                self.isLeaving = true
                self.whenGone = done
                for member in self.members { member.channel?.close(promise: nil) }
                self.finishLeaving()
            }
        }
    }

    func report() async -> Report {
        await withCheckedContinuation { done in
            loop.execute {
                done.resume(
                    returning: Report(
                        arrivals: self.arrivals, lostCount: self.lostCount, wrongCount: self.wrongCount,
                        byteCount: self.byteCount, firstFailure: self.firstFailure))
                self.arrivals = []
                (self.lostCount, self.wrongCount, self.byteCount, self.firstFailure) = (0, 0, 0, "")
            }
        }
    }

    // MARK: Connecting

    private func begin(_ window: Int, _ done: CheckedContinuation<Outcome, Never>) {
        for number in members.indices {
            members[number].hello = hello(number)
            (members[number].isServed, members[number].hasFailed) = (false, false)
        }
        self.window = window
        (isLeaving, next, underWayCount, servedCount, failureCount, firstFailure) = (false, 0, 0, 0, 0, "")
        whenServed = done
        startedAt = Monotonic.nanoseconds
        let start = startedAt
        loop.scheduleTask(in: Self.servingTimeout) {
            guard self.startedAt == start, self.whenServed != nil else { return }
            for number in self.members.indices where !self.members[number].isServed {
                self.failed(number, "It wasn't served within \(Self.servingTimeout.nanoseconds / 1_000_000_000) s.")
            }
        }
        fill()
    }

    private func hello(_ number: Int) -> ByteBuffer {
        let member = members[number]
        let wanted = SubscriptionSet(
            version: 1,
            subscriptions: [
                Subscription(
                    name: "own", className: "Listing", predicate: ScaleListings.predicate(wish, device: number))
            ])
        let hello = Hello(
            accessToken: tokens[user(number)], client: member.client, position: member.position,
            activeSubscriptions: member.position == .none ? .empty : wanted, wantedSubscriptions: wanted,
            acknowledged: 0, classes: classes)
        return LightFrame.masked(LightFrame.binary, codec.encode(.hello(hello)))
    }

    private func fill() {
        while underWayCount < window, next < members.count {
            underWayCount += 1
            open(next)
            next += 1
        }
        guard servedCount + failureCount == members.count, let done = whenServed else { return }
        whenServed = nil
        done.resume(
            returning: Outcome(
                seconds: Double(Monotonic.nanoseconds - startedAt) / 1e9, failureCount: failureCount,
                firstFailure: firstFailure))
    }

    private func open(_ number: Int) {
        let hello = members[number].hello
        members[number].hello = ByteBuffer()
        do {
            // The number of connections from one address is limited; all of 127.0.0.0/8 is this machine.
            let place = number / Self.devicesPerAddress
            let source = try SocketAddress(ipAddress: "127.0.\(1 + place / 200).\(2 + place % 200)", port: 0)
            ClientBootstrap(group: loop)
                .bind(to: source)
                .connectTimeout(Self.connectTimeout)
                .channelOption(.maxMessagesPerRead, value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            LightDevice(number: number, crew: self, hello: hello))
                    }
                }
                .connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: port))
                .whenComplete { result in
                    switch result {
                    case .success(let channel):
                        self.members[number].channel = channel
                        self.openCount += 1
                        // The connection may already have ended.
                        if !channel.isActive { self.ended(number) }
                    case .failure(let error): self.failed(number, "\(error)")
                    }
                }
        } catch {
            failed(number, "\(error)")
        }
    }

    // MARK: For the devices

    func meaning(of message: UnsafeRawBufferPointer, for number: Int) throws -> LightInbox.Meaning {
        try inboxes[user(number)].meaning(of: message)
    }

    private func user(_ number: Int) -> Int { number / Self.devicesPerUser % tokens.count }

    /// Called when a device has applied a batch.
    func batch(of number: Int, _ values: [LightInbox.Value], _ position: Position) {
        members[number].position = position
        if members[number].isServed {
            let now = Monotonic.nanoseconds
            for value in values {
                if ScaleListings.concerns(value.listing, wish, device: number, of: members.count) {
                    arrivals.append(Int64(value.commit))
                    arrivals.append(now)
                } else {
                    wrongCount += 1
                }
            }
            return
        }
        guard !members[number].hasFailed else { return }
        members[number].isServed = true
        servedCount += 1
        underWayCount -= 1
        fill()
    }

    func applied(_ tick: Int64) -> ByteBuffer {
        if let known = appliedFrames[tick] { return known }
        if appliedFrames.count >= Self.rememberedTicks { appliedFrames = [:] }
        let frame = LightFrame.masked(LightFrame.binary, codec.encode(.applied(tick: tick)))
        appliedFrames[tick] = frame
        return frame
    }

    func failed(_ number: Int, _ reason: String) {
        guard !isLeaving, !members[number].hasFailed else { return }
        if firstFailure.isEmpty { firstFailure = "device \(number): \(reason)" }
        members[number].hasFailed = true
        if members[number].isServed {
            lostCount += 1
        } else {
            failureCount += 1
            underWayCount -= 1
            fill()
        }
    }

    /// Called when a connection has ended.
    func ended(_ number: Int) {
        guard members[number].channel != nil else { return }
        members[number].channel = nil
        openCount -= 1
        failed(number, "The gateway closed the connection.")
        finishLeaving()
    }

    private func finishLeaving() {
        guard isLeaving, openCount == 0, let done = whenGone else { return }
        whenGone = nil
        done.resume()
    }
}
