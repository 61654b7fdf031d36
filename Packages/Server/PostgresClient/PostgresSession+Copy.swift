import CLibPQ

extension PostgresSession {
    /// The approximate size of the chunks passed to `copyOut`'s closure, in bytes.
    static let copyOutChunkBytes = 64 * 1024

    // MARK: COPY … FROM STDIN

    func beginCopyIn(_ site: CallSite) throws {
        try beginCopy(site, PGRES_COPY_IN, "copyIn", "COPY … FROM STDIN")
    }

    func putCopyData(_ bytes: UnsafeRawBufferPointer, _ site: CallSite) throws {
        guard let handle else { throw lost(site) }
        // The length is an Int32, and sending pieces keeps libpq's buffer small.
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pipelineFlushBytes))
            rest = rest.dropFirst(piece.count)
            guard let base = piece.bindMemory(to: CChar.self).baseAddress else { return }
            while true {
                switch PQputCopyData(handle, base, Int32(piece.count)) {
                case 1: break
                case 0:
                    guard try waitForServer(toWrite: true, site) else { throw lost(site) }
                    continue
                default: throw lost(site)
                }
                break
            }
            try flush(site)
        }
    }

    /// - Parameter failure: a reason for which the server should undo the copy, or nil to complete it.
    /// - Returns: the number of rows.
    func endCopyIn(failure: String?, _ site: CallSite) throws -> Int {
        guard let handle else { throw lost(site) }
        activity = nil
        while true {
            switch PQputCopyEnd(handle, failure) {
            case 1: break
            case 0:
                guard try waitForServer(toWrite: true, site) else { throw lost(site) }
                continue
            default: throw lost(site)
            }
            break
        }
        try flush(site)
        return try onlyResult(site).affectedRows
    }

    // MARK: COPY … TO STDOUT

    func beginCopyOut(_ site: CallSite) throws {
        try beginCopy(site, PGRES_COPY_OUT, "copyOut", "COPY … TO STDOUT")
    }

    /// The next chunk of whole rows, or nil at the end.
    func nextCopyChunk(_ site: CallSite) throws -> [UInt8]? {
        guard let handle else { throw lost(site) }
        if copyOutEnded { return try endCopyOut(site) }
        var chunk: [UInt8] = []
        while chunk.count < Self.copyOutChunkBytes {
            var row: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(handle, &row, 1)
            switch count {
            case 1...:
                chunk.append(contentsOf: UnsafeRawBufferPointer(start: row, count: Int(count)))
                PQfreemem(row)
            case 0:
                guard try waitForServer(toWrite: false, site) else { throw lost(site) }
            case -1:
                copyOutEnded = true
                return chunk.isEmpty ? try endCopyOut(site) : chunk
            default:
                activity = nil
                _ = try onlyResult(site)
                throw lost(site)
            }
        }
        return chunk
    }

    private func endCopyOut(_ site: CallSite) throws -> [UInt8]? {
        copyOutEnded = false
        activity = nil
        _ = try onlyResult(site)
        return nil
    }

    /// Stops the server and discards what it has sent.
    func abortCopyOut(_ site: CallSite) throws {
        guard activity != nil else { return }
        try cancelFromOwner(site)
        do {
            while try nextCopyChunk(site) != nil {}
        } catch let error as PostgresError where error.code == .queryCanceled {}
    }

    private func beginCopy(_ site: CallSite, _ wanted: ExecStatusType, _ name: String, _ form: String) throws {
        let handle = try ready(site)
        try check(PQsendQuery(handle, site.sql), site)
        try flush(site)
        guard let raw = try nextResult(site) else { throw lost(site) }
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
                code: .featureNotSupported, message: "\(name) got another statement", hint: "Write \(form).",
                sql: site.sql, file: site.file, line: site.line)
        PQclear(raw)
        switch status {
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: close()
        default: _ = try? allResults(site)
        }
        throw error
    }
}
