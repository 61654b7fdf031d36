import Foundation
import PostgresClient

/// Exports of a whole list, compared with `COPY listing TO STDOUT` on libpq, whose rows are discarded.
struct AdminExports {
    /// The required speed, as a fraction of COPY's rows per second.
    static let wanted = 0.5
    /// The most memory by which an export may make the server grow, in megabytes: a fraction of what it writes.
    static let allowedMegabytes = 20.0

    let port: Int
    let token: String
    let processID: Int32
    let rowCount: Int

    func measure(_ database: BenchDatabase, runCount: Int) async throws -> [Figure] {
        var raw: [Double] = []
        var rates: [String: [Double]] = [:]
        let formats = ["csv", "json"]
        var growth: [Double] = []
        // The first round warms caches.
        for round in 0...runCount {
            let copying = try await rate { try await copy(database) }
            if round > 0 { raw.append(copying) }
            for format in formats {
                let memory = try MemoryWatch(processID)
                let exporting = try await rate { try await Blocking.run { try export(format) } }
                memory.stop()
                guard round > 0 else { continue }
                rates[format, default: []].append(exporting)
                growth.append(memory.megabytes.greatest - memory.megabytes.start)
            }
        }
        var figures = [Figure("\(rowCount) rows, COPY: rate", "rows/s", runs: raw)]
        for format in formats {
            let runs = rates[format] ?? []
            figures.append(Figure("\(rowCount) rows, export as \(format): rate", "rows/s", runs: runs))
            var ratio = Figure(
                "\(rowCount) rows, export as \(format): as a multiple of COPY", "×",
                runs: zip(runs, raw).map { $0 / $1 })
            ratio.required = Self.wanted
            figures.append(ratio)
        }
        var memory = Figure("\(rowCount) rows, exports: growth of the server's memory", "MB", runs: growth)
        memory.allowed = Self.allowedMegabytes
        return figures + [memory]
    }

    /// Rows per second.
    private func rate(_ body: () async throws -> Void) async throws -> Double {
        let start = Monotonic.nanoseconds
        try await body()
        return Double(rowCount) / (Double(Monotonic.nanoseconds - start) / 1e9)
    }

    private func copy(_ database: BenchDatabase) async throws {
        _ = try await database.pool.withConnection { connection in
            try await connection.copyOut("COPY listing TO STDOUT") { _ in }
        }
    }

    /// - Throws: ``BenchError`` if the response is incomplete.
    private func export(_ format: String) throws {
        let socket = try RawSocket(port: port)
        let request = HTTPLoad.request("GET", "/export/listings?format=\(format)", bearer: token)
        try socket.write(request)
        let head = try socket.head(maximumByteCount: RawHTTP.maximumHeadByteCount)
        guard head.hasPrefix("HTTP/1.1 200") else { throw BenchError("GET /export: \(head)") }
        // RFC 9112, section 7.1: chunks with their sizes, ended by a chunk of 0 bytes.
        while true {
            var size = ""
            while !size.hasSuffix("\r\n") { size.unicodeScalars.append(Unicode.Scalar(try socket.bytes(1)[0])) }
            guard let count = Int(size.dropLast(), radix: 16) else { throw BenchError("A chunk of \(size) bytes.") }
            _ = try socket.bytes(count + 2)
            if count == 0 { return }
        }
    }
}
