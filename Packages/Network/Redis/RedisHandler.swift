internal import NIOCore
internal import TomboloWebSocket

/// Performs a ``RedisDialogue`` on a channel's event loop.
final class RedisHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var dialogue: RedisDialogue
    private let host: String
    private let ended: EventLoopPromise<Void>
    private let takeText: () -> String?
    private let onReady: (_ wake: @escaping @Sendable () -> Void) -> Void
    private let onNews: (RedisConnection.News) -> Void
    private var context: ChannelHandlerContext?
    private var readyTimer: Scheduled<Void>?
    private var silenceTimer: RepeatedTask?
    private var hasHeard = false

    /// - Parameters:
    ///   - ended: fails when the connection has ended.
    ///   - takeText: returns the text to publish, once.
    ///   - onReady: receives a function that tells the handler, from any thread, that there is something to publish.
    init(
        _ dialogue: RedisDialogue, host: String, ended: EventLoopPromise<Void>, takeText: @escaping () -> String?,
        onReady: @escaping (_ wake: @escaping @Sendable () -> Void) -> Void,
        onNews: @escaping (RedisConnection.News) -> Void
    ) {
        self.dialogue = dialogue
        self.host = host
        self.ended = ended
        self.takeText = takeText
        self.onReady = onReady
        self.onNews = onNews
    }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        readyTimer = context.eventLoop.scheduleTask(in: TimeAmount(RedisConnection.connectTimeout)) {
            bound.value.fail(RedisError.silent(RedisConnection.connectTimeout))
        }
        let interval = TimeAmount(RedisDialogue.silenceInterval)
        silenceTimer = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            bound.value.noteSilence()
        }
        handle(.connected)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasHeard = true
        handle(.received(Array(unwrapInboundIn(data).readableBytesView)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(TLSClient.reason(error, host: host).map(RedisError.insecure) ?? error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(RedisError.closed)
        context.fireChannelInactive()
    }

    /// Call when there may be something to publish.
    private func publish() {
        if let text = takeText() { handle(.publish(text)) }
    }

    private func noteSilence() {
        if !hasHeard { handle(.silence) }
        hasHeard = false
    }

    private func handle(_ event: RedisDialogue.Event) {
        for action in dialogue.handle(event) {
            switch action {
            case .send(let bytes): context?.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            case .ready:
                readyTimer?.cancel()
                if let loop = context?.eventLoop {
                    let bound = NIOLoopBound(self, eventLoop: loop)
                    onReady { loop.execute { bound.value.publish() } }
                }
                onNews(.ready)
                publish()
            case .message(let content): onNews(.message(content))
            case .fail(let error): fail(error)
            }
        }
    }

    private func fail(_ error: any Error) {
        readyTimer?.cancel()
        silenceTimer?.cancel()
        ended.fail(error)
        let context = context
        self.context = nil
        context?.close(promise: nil)
    }
}
