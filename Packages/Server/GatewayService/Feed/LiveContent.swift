internal import NIOCore
internal import TomboloSyncSession

/// A live batch with its encoded frames, shared by all sessions that receive it.
struct LiveContent: Sendable {
    let batch: LiveBatch
    let messages: [ByteBuffer]

    init(_ batch: LiveBatch) {
        self.batch = batch
        messages = batch.frames.map(Self.buffers) ?? []
    }

    static func buffers(_ frames: SharedFrames) -> [ByteBuffer] { frames.messages.map { ByteBuffer(bytes: $0) } }
}
