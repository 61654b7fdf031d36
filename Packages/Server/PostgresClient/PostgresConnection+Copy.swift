public import Foundation

extension PostgresConnection {
    /// Runs `COPY … FROM STDIN` with the chunks that `next` returns until nil. Rows may span chunks.
    ///
    /// If `next` throws, the server undoes the copy and the error is rethrown.
    /// - Returns: the number of rows copied.
    @discardableResult
    nonisolated(nonsending) public func copyIn<Chunk: ContiguousBytes & Sendable>(
        _ sql: String, file: String = #fileID, line: Int = #line,
        next: nonisolated(nonsending) () async throws -> Chunk?
    ) async throws -> Int {
        let site = PostgresSession.CallSite(sql: sql, file: file, line: line)
        try await interruptible { session in try await session.beginCopyIn(site) }
        do {
            while let chunk = try await next() {
                try await interruptible { session in
                    try await session.putCopyData(chunk, site)
                }
            }
            return try await interruptible { session in try await session.endCopyIn(failure: nil, site) }
        } catch {
            let reason = "the sender gave up"
            try? await uninterrupted { session in
                if session.activity != nil { _ = try await session.endCopyIn(failure: reason, site) }
            }
            throw error
        }
    }

    /// Runs `COPY … FROM STDIN` with the chunks of a sequence.
    @discardableResult
    nonisolated(nonsending) public func copyIn<Chunks: Sequence>(
        _ sql: String, chunks: Chunks, file: String = #fileID, line: Int = #line
    ) async throws -> Int where Chunks.Element: ContiguousBytes & Sendable {
        var iterator = chunks.makeIterator()
        return try await copyIn(sql, file: file, line: line) { iterator.next() }
    }

    /// Runs `COPY … FROM STDIN` with the chunks of an asynchronous sequence.
    @discardableResult
    nonisolated(nonsending) public func copyIn<Chunks: AsyncSequence>(
        _ sql: String, chunks: Chunks, file: String = #fileID, line: Int = #line
    ) async throws -> Int where Chunks.Element: ContiguousBytes & Sendable {
        var iterator = chunks.makeAsyncIterator()
        return try await copyIn(sql, file: file, line: line) {
            try await iterator.next(isolation: #isolation)
        }
    }

    /// Runs `COPY … TO STDOUT` and passes whole rows to `consume` in chunks of about 64 KiB. The server waits while
    /// `consume` runs. If it throws, the copy is cancelled and the error is rethrown.
    nonisolated(nonsending) public func copyOut(
        _ sql: String, file: String = #fileID, line: Int = #line,
        _ consume: nonisolated(nonsending) ([UInt8]) async throws -> Void
    ) async throws {
        let site = PostgresSession.CallSite(sql: sql, file: file, line: line)
        try await interruptible { session in try await session.beginCopyOut(site) }
        do {
            while let chunk = try await interruptible({ session in try await session.nextCopyChunk(site) }) {
                try await consume(chunk)
            }
        } catch {
            try? await uninterrupted { session in try await session.abortCopyOut(site) }
            throw error
        }
    }
}
