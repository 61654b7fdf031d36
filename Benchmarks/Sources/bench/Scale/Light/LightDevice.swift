import NIOCore
import TomboloSyncProtocol

/// One connection of a ``LightCrew``. It speaks the sync protocol and stores nothing but its position. Confined to
/// its event loop.
final class LightDevice: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The longest allowed response to the upgrade, in bytes.
    private static let maximumHeadByteCount = 4 << 10
    private static let headEnd = Array("\r\n\r\n".utf8)

    private let number: Int
    private let crew: LightCrew
    private let hello: ByteBuffer
    /// The part of a frame that has arrived.
    private var rest: ByteBuffer?
    private var isUpgraded = false
    /// The values of the incomplete batch.
    private var values: [LightInbox.Value] = []

    init(number: Int, crew: LightCrew, hello: ByteBuffer) {
        self.number = number
        self.crew = crew
        self.hello = hello
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(crew.opening), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        if var longer = rest {
            rest = nil
            longer.writeBuffer(&buffer)
            buffer = longer
        }
        do {
            if !isUpgraded, try !readHead(&buffer, context) {
                rest = buffer
                return
            }
            while let frame = try LightFrame(buffer) {
                try take(frame, buffer, context)
                buffer.moveReaderIndex(forwardBy: frame.headerByteCount + frame.payloadByteCount)
            }
            if buffer.readableBytes > 0 { rest = buffer.slice() }
        } catch {
            crew.failed(number, "\(error)")
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

    func channelInactive(context: ChannelHandlerContext) { crew.ended(number) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        crew.failed(number, "\(error)")
        context.close(promise: nil)
    }

    private func readHead(_ buffer: inout ByteBuffer, _ context: ChannelHandlerContext) throws -> Bool {
        let view = buffer.readableBytesView
        guard let end = view.indices.dropLast(3).first(where: { view[$0..<$0 + 4].elementsEqual(Self.headEnd) }) else {
            guard view.count < Self.maximumHeadByteCount else { throw BenchError("The answer's head doesn't end.") }
            return false
        }
        let head = String(decoding: view[..<end], as: UTF8.self)
        guard head.hasPrefix("HTTP/1.1 101 ") else { throw BenchError("No upgrade: \(head.prefix(80))") }
        buffer.moveReaderIndex(to: end + Self.headEnd.count)
        isUpgraded = true
        context.write(wrapOutboundOut(hello), promise: nil)
        return true
    }

    private func take(_ frame: LightFrame, _ buffer: ByteBuffer, _ context: ChannelHandlerContext) throws {
        switch frame.opcode {
        case LightFrame.binary:
            let meaning = try buffer.withUnsafeReadableBytes { bytes in
                try crew.meaning(
                    of: UnsafeRawBufferPointer(
                        rebasing: bytes[frame.headerByteCount..<frame.headerByteCount + frame.payloadByteCount]),
                    for: number)
            }
            crew.byteCount += frame.payloadByteCount
            switch meaning {
            case .welcome: break
            case .values(let more): values += more
            case .end(let position):
                crew.batch(of: number, values, position)
                values = []
                context.write(wrapOutboundOut(crew.applied(position.tick)), promise: nil)
            case .over(let reason): throw BenchError(reason)
            }
        case LightFrame.ping: context.write(wrapOutboundOut(crew.pong), promise: nil)
        case LightFrame.close: context.close(promise: nil)
        default: break
        }
    }
}
