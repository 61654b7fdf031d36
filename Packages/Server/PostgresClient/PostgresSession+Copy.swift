import CLibPQ
import Foundation

extension PostgresSession {
    /// The approximate size of the chunks passed to `copyOut`'s closure, in bytes.
    static let copyOutChunkBytes = 64 * 1024

    // MARK: COPY … FROM STDIN

    nonisolated(nonsending) func beginCopyIn(_ site: CallSite) async throws {
        try await beginCopy(site, PGRES_COPY_IN, "copyIn", "COPY … FROM STDIN")
    }

    nonisolated(nonsending) func putCopyData(_ chunk: some ContiguousBytes, _ site: CallSite) async throws {
        let count = chunk.withUnsafeBytes(\.count)
        var offset = 0
        // The length is an Int32, and sending pieces keeps libpq's buffer small.
        while offset < count {
            guard let handle else { throw lost(site) }
            let length = min(count - offset, Self.pipelineFlushBytes)
            let accepted = chunk.withUnsafeBytes { bytes in
                PQputCopyData(
                    handle, bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self), Int32(length))
            }
            switch accepted {
            case 1:
                offset += length
                try await flush(site)
            case 0:
                guard try await waitForServer(toWrite: true, site) else { throw lost(site) }
            default: throw lost(site)
            }
        }
    }

    /// - Parameter failure: why the server should undo the copy, or nil to complete it.
    /// - Returns: the number of rows.
    nonisolated(nonsending) func endCopyIn(failure: String?, _ site: CallSite) async throws -> Int {
        guard let handle else { throw lost(site) }
        activity = nil
        while true {
            switch PQputCopyEnd(handle, failure) {
            case 1: break
            case 0:
                guard try await waitForServer(toWrite: true, site) else { throw lost(site) }
                continue
            default: throw lost(site)
            }
            break
        }
        try await flush(site)
        return try await onlyResult(site).affectedRows
    }

    // MARK: COPY … TO STDOUT

    nonisolated(nonsending) func beginCopyOut(_ site: CallSite) async throws {
        try await beginCopy(site, PGRES_COPY_OUT, "copyOut", "COPY … TO STDOUT")
    }

    /// The next chunk of whole rows, or nil at the end.
    nonisolated(nonsending) func nextCopyChunk(_ site: CallSite) async throws -> [UInt8]? {
        guard let handle else { throw lost(site) }
        if copyOutEnded { return try await endCopyOut(site) }
        var chunk: [UInt8] = []
        chunk.reserveCapacity(Self.copyOutChunkBytes + Self.copyOutChunkBytes / 8)
        while chunk.count < Self.copyOutChunkBytes {
            var row: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(handle, &row, 1)
            switch count {
            case 1...:
                chunk.append(contentsOf: UnsafeRawBufferPointer(start: row, count: Int(count)))
                PQfreemem(row)
            case 0:
                guard try await waitForServer(toWrite: false, site) else { throw lost(site) }
            case -1:
                copyOutEnded = true
                return chunk.isEmpty ? try await endCopyOut(site) : chunk
            default:
                activity = nil
                _ = try await onlyResult(site)
                throw lost(site)
            }
        }
        return chunk
    }

    private nonisolated(nonsending) func endCopyOut(_ site: CallSite) async throws -> [UInt8]? {
        copyOutEnded = false
        activity = nil
        _ = try await onlyResult(site)
        return nil
    }

    /// Stops the server and discards what it has sent.
    nonisolated(nonsending) func abortCopyOut(_ site: CallSite) async throws {
        guard activity != nil else { return }
        try await cancelFromOwner(site)
        do {
            while try await nextCopyChunk(site) != nil {}
        } catch let error as PostgresError where error.code == .queryCanceled {}
    }

    private nonisolated(nonsending) func beginCopy(
        _ site: CallSite, _ wanted: ExecStatusType, _ name: String, _ form: String
    ) async throws {
        let handle = try ready(site)
        try check(PQsendQuery(handle, site.sql), site)
        try await flush(site)
        guard let raw = try await nextResult(site) else { throw lost(site) }
        let status = PQresultStatus(raw)
        if status == wanted {
            PQclear(raw)
            activity = name
            return
        }
        let error =
            status == PGRES_FATAL_ERROR
            ? failure(raw, site)
            : PostgresError(
                code: .featureNotSupported, message: "\(name) got a different statement", hint: "Write \(form).",
                sql: site.sql, file: site.file, line: site.line)
        PQclear(raw)
        switch status {
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: close()
        default: _ = try? await allResults(site)
        }
        throw error
    }
}
