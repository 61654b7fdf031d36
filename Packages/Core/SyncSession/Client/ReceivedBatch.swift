internal import TomboloSyncProtocol

/// What came of a batch, or of several that are applied as one: the frames that are in memory. Those before them are staged.
///
/// Batches that follow each other are joined by numbering their frames as one batch's. To the store they are one: it goes
/// back to the server's rows once, applies the frames in their order, and replays the queue once.
struct ReceivedBatch {
    /// In order.
    private(set) var frames: [BatchFrame] = []
    /// The size of ``frames``, in bytes.
    private(set) var byteCount = 0
    /// The number of frames that are staged.
    private(set) var stagedCount = 0

    mutating func append(_ frame: BatchFrame) {
        frames.append(frame)
        byteCount += frame.byteCount
    }

    /// Removes the oldest frame, to be staged, if there are more bytes than that. The newest frame stays.
    mutating func takeOldest(beyond maximumByteCount: Int) -> BatchFrame? {
        guard byteCount > maximumByteCount, frames.count > 1 else { return nil }
        let frame = frames.removeFirst()
        byteCount -= frame.byteCount
        stagedCount += 1
        return frame
    }

    /// Whether all frames of a batch are there, and none is staged.
    func isInMemory(upTo end: BatchEnd) -> Bool {
        frames.count == end.frameCount && frames.indices.allSatisfy { frames[$0].sequence == $0 }
    }

    /// Adds the frames of the batch that follows.
    mutating func join(_ next: ReceivedBatch) {
        for var frame in next.frames {
            frame.sequence = frames.count
            frames.append(frame)
        }
        byteCount += next.byteCount
    }
}
