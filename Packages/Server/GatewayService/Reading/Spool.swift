internal import NIOCore
internal import NIOPosix

/// Buffers the messages of a batch between the database and a device, which work at different speeds. Up to
/// ``memoryByteCount`` is kept in memory, and the rest in a nameless file that vanishes with the process. Messages
/// come out in the order in which they went in.
///
/// One database reader adds messages, and one session takes them.
actor Spool {
    /// The most bytes that a spool holds in memory.
    static let memoryByteCount = 1 << 20
    /// The most bytes that a spool holds in total. A longer batch waits for its device.
    static let maximumByteCount = 1 << 30
    /// Approximate bytes taken at a time, unless a single message is larger.
    static let chunkByteCount = 256 << 10

    private let budget: SpoolBudget
    private let peer: Peer
    private let makeFile: @Sendable () throws -> SpoolFile
    private var memory: [ByteBuffer] = []
    private var memoryCount = 0
    private var file: SpoolFile?
    private var isDiscarded = false

    init(
        budget: SpoolBudget, peer: Peer, makeFile: @escaping @Sendable () throws -> SpoolFile = { try SpoolFile() }
    ) {
        self.budget = budget
        self.peer = peer
        self.makeFile = makeFile
    }

    /// Bytes in memory and on disk.
    var heldByteCount: Int { memoryCount + (file?.heldByteCount ?? 0) }

    deinit {
        budget.releaseMemory(memoryCount)
        budget.releaseDisk(file?.heldByteCount ?? 0, of: peer)
    }

    /// Adds a message.
    /// - Returns: false if there is no room for it.
    /// - Throws: a file system error. The spool is unusable then.
    func append(_ message: [UInt8]) async throws -> Bool {
        guard !isDiscarded else { throw CancellationError() }
        let count = message.count
        if file?.isEmpty ?? true, memoryCount + count <= Self.memoryByteCount || memory.isEmpty,
            budget.reserveMemory(count)
        {
            memory.append(ByteBuffer(bytes: message))
            memoryCount += count
            return true
        }
        let held = SpoolFile.byteCount(of: message)
        guard memoryCount + (file?.heldByteCount ?? 0) + held <= Self.maximumByteCount,
            budget.reserveDisk(held, of: peer)
        else { return false }
        let file: SpoolFile
        do {
            file = try self.file ?? makeFile()
        } catch {
            budget.releaseDisk(held, of: peer)
            throw error
        }
        self.file = file
        // From here on, this space is returned with the file, whether or not it was written.
        let offset = file.reserve(held)
        try await NIOThreadPool.singleton.runIfActive { try file.write(message, at: offset) }
        file.commit()
        return true
    }

    /// The next messages, or none if there are none at the moment.
    /// - Throws: a file system error.
    func next() async throws -> [ByteBuffer] {
        if !memory.isEmpty {
            var count = 0
            var end = 0
            while end < memory.count, count == 0 || count + memory[end].readableBytes <= Self.chunkByteCount {
                count += memory[end].readableBytes
                end += 1
            }
            let taken = Array(memory[..<end])
            memory.removeFirst(end)
            memoryCount -= count
            budget.releaseMemory(count)
            return taken
        }
        guard let file, !file.isEmpty else { return [] }
        let range = file.unread
        let messages = try await NIOThreadPool.singleton.runIfActive {
            try file.read(range, about: Self.chunkByteCount)
        }
        guard !isDiscarded else { return [] }
        let count = messages.reduce(0) { $0 + SpoolFile.headByteCount + $1.readableBytes }
        budget.releaseDisk(file.take(count), of: peer)
        return messages
    }

    /// Discards everything that is left.
    func discard() {
        isDiscarded = true
        budget.releaseMemory(memoryCount)
        memoryCount = 0
        memory = []
        budget.releaseDisk(file?.heldByteCount ?? 0, of: peer)
        file = nil
    }
}
