import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PostgresClient
import TomboloHTTP

/// An export in progress: rows of one snapshot, in bounded memory. It ends when the last reference to it goes away.
final class ExportStream: Sendable {
    /// How long an export may take: until it ends, its snapshot keeps the database from cleaning up.
    static let maximumDuration = Duration.seconds(30 * 60)

    /// How long a client may read nothing before its export ends, so that others get the place.
    static let maximumStall = Duration.seconds(60)

    private let pipe = ChunkPipe()
    private let work: Task<Void, Never>

    /// - Parameter whenOver: called once, when the database has nothing more to do for the export.
    init(
        _ statement: ExportStatement, _ pool: PostgresPool, whenOver: @escaping @Sendable () -> Void
    ) {
        let pipe = pipe
        work = Task {
            let watch = Task { try await pipe.abandon(afterStall: Self.maximumStall) }
            defer { watch.cancel() }
            do {
                try await withTimeout(Self.maximumDuration) {
                    try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
                        try await connection.query(statement.settings.sql, statement.settings.parameters)
                        try await connection.copyOut(statement.copy) { rows in
                            try await pipe.send(statement.writer?.objects(rows) ?? rows)
                        }
                    }
                }
                whenOver()
                pipe.finish(.success(()))
            } catch {
                whenOver()
                pipe.finish(.failure(error))
            }
        }
    }

    deinit {
        pipe.abandon()
        work.cancel()
    }

    /// Waits for the first rows, so that an earlier failure can still be answered as an error.
    /// - Throws: the database's error; a ``RequestFailure``.
    func response(_ format: ExportFormat, fileName: String) async throws -> Response {
        var first = try await pipe.next()
        // In an array, each row begins with a comma.
        if format == .json, first != nil { first?.removeFirst() }
        let begin = format.opening + (first ?? [])
        let isOver = first == nil
        return Response(
            status: .ok,
            headers: [
                .contentType: format.contentType,
                .contentDisposition: "attachment; filename=\"\(fileName).\(format.rawValue)\"",
            ],
            body: ResponseBody { [self] writer in
                if !begin.isEmpty { try await writer.write(ByteBuffer(bytes: begin)) }
                if !isOver {
                    // An error here breaks the connection, so that the chunked body ends incomplete.
                    while let chunk = try await pipe.next() { try await writer.write(ByteBuffer(bytes: chunk)) }
                }
                if !format.closing.isEmpty { try await writer.write(ByteBuffer(bytes: format.closing)) }
                try await writer.finish(nil)
            })
    }
}
