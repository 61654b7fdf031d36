internal import NIOCore
internal import NIOPosix

/// The messages of a batch between the database, which gives them at its speed, and a device, which takes them at its own: in
/// memory as far as ``memoryByteCount`` goes, then in a file without a name, which goes with the process. Messages come out
/// in the order in which they went in.
///
/// One reader of the database adds, one session takes.
actor Spool {
    /// What a spool holds in memory, in bytes.
    static let memoryByteCount = 1 << 20
    /// What a spool holds in all, in bytes; a batch that is longer waits for its device.
    static let maximumByteCount = 1 << 30
    /// About what is taken at a time, in bytes, or one larger message.
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

    /// In memory and on disk, in bytes.
    var heldByteCount: Int { memoryCount + (file?.heldByteCount ?? 0) }

    deinit {
        budget.releaseMemory(memoryCount)
        budget.releaseDisk(file?.heldByteCount ?? 0, of: peer)
    }

    /// Adds a message.
    /// - Returns: false if there is no room for it.
    /// - Throws: an error of the file system; the spool is of no use then.
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
        // From here on it's given back with the file, written or not.
        let offset = file.reserve(held)
        try await NIOThreadPool.singleton.runIfActive { try file.write(message, at: offset) }
        file.commit()
        return true
    }

    /// The next messages; none if there are none at the moment.
    /// - Throws: an error of the file system.
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

    /// Gives everything up that is left.
    func discard() {
        isDiscarded = true
        budget.releaseMemory(memoryCount)
        memoryCount = 0
        memory = []
        budget.releaseDisk(file?.heldByteCount ?? 0, of: peer)
        file = nil
    }
}
