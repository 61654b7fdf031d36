import Foundation
package import PostgresClient
package import TomboloHTTP
package import TomboloModel
import TomboloLocalization

/// Writes an uploading file into the rows of a job. It writes nothing to the file's class, and holds no connection
/// while the sender takes their time. If the upload isn't finished, call ``abandon()``.
package struct ImportUpload: Sendable {
    private let pool: PostgresPool
    private let type: ResourceType
    private let job: Int64
    private var file: ImportFile
    private var byteCount = 0
    private var waiting: [ImportFile.Row] = []
    private var waitingByteCount = 0
    private var shown: [JSON] = []
    private let name: String?

    /// - Parameters:
    ///   - name: the file's name, for people.
    /// - Throws: ``RequestFailure`` with status 429 if the user has too many imports that aren't started.
    package init(
        _ file: ImportFile, named name: String? = nil, to type: ResourceType, by user: ObjectId, _ pool: PostgresPool
    ) async throws {
        self.file = file
        self.name = name?.shortened(toByteCount: 200)
        self.type = type
        self.pool = pool
        let format = file.format
        job = try await pool.transaction { connection in
            try await JobStore.makeDraft(
                type.item.name, by: user, arguments: ["format": .string(format.rawValue)], connection)
        }
    }

    /// - Throws: ``RequestFailure`` that says which line can't be read.
    package mutating func add(_ bytes: some Collection<UInt8>) async throws {
        byteCount += bytes.count
        guard byteCount <= ImportLimits.byteCount else {
            throw RequestFailure(
                .tooLarge, localized("The file has more than \(ImportLimits.byteCount) bytes."),
                hint: localized("Import it in parts."))
        }
        do {
            take(try file.rows(in: bytes))
        } catch let error as ImportFileError {
            throw error.failure
        }
        if waiting.count >= ImportLimits.chunkRowCount || waitingByteCount >= ImportLimits.chunkByteCount {
            try await store()
        }
    }

    /// - Returns: the job's number.
    package mutating func finish() async throws -> Int64 {
        do {
            take(try file.finish())
        } catch let error as ImportFileError {
            throw error.failure
        }
        try await store()
        var arguments: [String: JSON] = [
            "format": .string(file.format.rawValue), "columns": .array(file.columns.map(JSON.string)),
            "encoding": .string(file.encoding.rawValue), "numbers": file.numbersLines ? "lines" : "places",
            "isComplete": true,
        ]
        arguments["file"] = name.map(JSON.string)
        let (job, total) = (job, file.rowCount)
        try await pool.transaction { [arguments] connection in
            try await JobStore.complete(job, .object(arguments), total: total, connection)
        }
        return job
    }

    /// Removes what an interrupted upload has written. If this fails too, the rest is removed after a day.
    package func abandon() async {
        // A separate task, so that it also works if the current one is cancelled.
        await Task { try? await JobStore.forget(job, pool) }.value
    }

    /// The first rows as they were read.
    package var firstRows: [JSON] { shown }

    private mutating func take(_ rows: [ImportFile.Row]) {
        for row in rows {
            waitingByteCount += row.text.utf8.count
            guard shown.count < ImportLimits.shownRowCount,
                let source = try? ImportSource(row.text, isTable: file.format == .csv)
            else { continue }
            let cells: JSON =
                switch source {
                case .members(let members): .object(members)
                case .cells(let cells):
                    .object(
                        Dictionary(zip(file.columns, cells).map { ($0, $1.map(JSON.string) ?? .null) }) { first, _ in
                            first
                        })
                }
            shown.append(["row": .int(row.number), "cells": cells])
        }
        waiting += rows
    }

    private mutating func store() async throws {
        let (rows, job) = (waiting, job)
        waiting = []
        waitingByteCount = 0
        guard !rows.isEmpty else { return }
        let keys: [String?] = rows.map { _ in
            switch type.keyType {
            case .objectId: ObjectId.generate().stringValue
            case .uuid: Value.uuid(UUID()).keyText
            default: nil
            }
        }
        for start in stride(from: 0, to: rows.count, by: ImportLimits.chunkRowCount) {
            let part = start..<min(start + ImportLimits.chunkRowCount, rows.count)
            try await pool.transaction { connection in
                try await JobStore.add(Array(rows[part]), keys: Array(keys[part]), to: job, connection)
            }
        }
    }
}
