import HTTPTypes
import ServiceTestSupport
import Testing
import TomboloHTTP

/// A file that a user uploaded for an import, and the steps after the upload.
struct UploadedFile: Sendable {
    typealias Site = BulkTests.Site

    let site: Site
    let collection: String
    let role: String
    let answer: Answer

    var id: Int64 { answer.json["job"]?["id"]?.number ?? 0 }

    func preview(_ wishes: String = "{}", as role: String? = nil) async throws -> Answer {
        try await site.call(
            .post, "/import/\(collection)/\(id)/preview", as: role ?? self.role, body: wishes)
    }

    /// - Parameter version: nil for the version of a new preview.
    func start(_ wishes: [String] = [], version: String? = nil, as role: String? = nil) async throws -> Answer {
        var found = version
        if found == nil {
            found = try await preview("{\(wishes.filter { !$0.contains("atomic") }.joined(separator: ", "))}")
                .json["version"]?.text
        }
        let all = wishes + [#""expect": {"version": "\#(found ?? "")"}"#]
        return try await site.call(
            .post, "/import/\(collection)/\(id)/start", as: role ?? self.role,
            body: "{\(all.joined(separator: ", "))}")
    }

    func job() async throws -> Answer { try await site.call(.get, "/jobs/\(id)", as: role) }

    func rows(_ outcome: String) async throws -> [JSON] {
        try await site.call(.get, "/jobs/\(id)/rows?outcome=\(outcome)", as: role).json["rows"]?.list ?? []
    }

    /// Starts the import and runs it to completion.
    func finish(_ wishes: [String] = []) async throws -> Answer {
        let started = try await start(wishes)
        #expect(started.status == 202, "\(started.text)")
        try await site.work()
        return try await job()
    }

    static func upload(
        _ site: Site, _ text: String, type: String = "text/csv", to collection: String = "tickets",
        as role: String = "owner", query: String = ""
    ) async throws -> UploadedFile {
        try await upload(site, bytes: Array(text.utf8), type: type, to: collection, as: role, query: query)
    }

    static func upload(
        _ site: Site, bytes: [UInt8], type: String = "text/csv", to collection: String, as role: String = "owner",
        query: String = ""
    ) async throws -> UploadedFile {
        let answer = try await site.call(.post, "/import/\(collection)\(query)", as: role, bytes: bytes, type: type)
        return UploadedFile(site: site, collection: collection, role: role, answer: answer)
    }
}
