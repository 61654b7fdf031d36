internal import TomboloSyncProtocol

/// The frames in memory of one batch, or of several batches that are applied as one. Any earlier frames have been staged.
///
/// Consecutive batches are joined by numbering their frames as if they belonged to one batch. The store treats them as
/// one: it goes back to the server's rows once, applies the frames in order, and replays the queue once.
struct ReceivedBatch {
    /// In the order of their sequence.
    private(set) var frames: [BatchFrame] = []
    /// The size of ``frames``, in bytes.
    private(set) var byteCount = 0
    /// The number of frames that are staged.
    private(set) var stagedCount = 0

    mutating func append(_ frame: BatchFrame) {
        frames.append(frame)
        byteCount += frame.byteCount
    }

    /// Removes and returns the oldest frame, for staging, if the frames exceed this size. The newest frame always stays.
    mutating func takeOldest(beyond maximumByteCount: Int) -> BatchFrame? {
        guard byteCount > maximumByteCount, frames.count > 1 else { return nil }
        let frame = frames.removeFirst()
        byteCount -= frame.byteCount
        stagedCount += 1
        return frame
    }

    /// Whether all frames of a batch have arrived and none has been staged.
    func isInMemory(upTo end: BatchEnd) -> Bool {
        frames.count == end.frameCount && frames.indices.allSatisfy { frames[$0].sequence == $0 }
    }

    /// Adds the frames of the next batch.
    mutating func join(_ next: ReceivedBatch) {
        for var frame in next.frames {
            frame.sequence = frames.count
            frames.append(frame)
        }
        byteCount += next.byteCount
    }
}
