import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PostgresClient
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules

/// Imports: a file is uploaded, previewed, and started as a job.
///
/// - `POST /import/{collection}` with CSV or JSON answers with the columns, the members that they probably are, and the
///   first rows
/// - `POST /import/{collection}/{id}/preview` with a mapping says what the import would do
/// - `POST /import/{collection}/{id}/start` with the preview's version does it
extension BulkRoutes {
    private static let importPath = "/import/{collection}"

    func addImports(to routes: Routes) {
        let access = api.access(localized("create or update", context: "may …")) { _ in [.create, .update] }.and(
            .own(localized("jobs")))
        let desk = ImportDesk(api.pool)
        routes.on(
            .post, Self.importPath, access: access, bodyBytes: ImportLimits.byteCount, timeout: ImportLimits.uploadTime
        ) { request, _, grant in
            let (view, type) = try api.view(grant)
            return try await upload(request, type, view, desk)
        }
        routes.on(
            .post, "\(Self.importPath)/{id}/preview", access: access, timeout: ImportLimits.planTime
        ) { request, context, grant in
            let (view, type) = try api.view(grant)
            _ = try Self.parameters(request)
            let wishes = try await request.json(JSON.self, context)
            let draft = try await desk.draft(Self.id(context), wishes, of: type, for: view)
            return JSONAnswer(try await desk.preview(draft))
        }
        routes.on(
            .post, "\(Self.importPath)/{id}/start", access: access, timeout: ImportLimits.planTime
        ) { request, context, grant in
            let (view, type) = try api.view(grant)
            guard let user = view.subject.userID else { throw RequestFailure.needsUser }
            _ = try Self.parameters(request)
            let wishes = try await request.json(JSON.self, context)
            let id = try await desk.start(Self.id(context), wishes, of: type, for: view)
            return Self.accepted(try await jobs(of: user).job(id))
        }
    }

    private func upload(
        _ request: Request, _ type: ResourceType, _ view: CallerView, _ desk: ImportDesk
    ) async throws -> JSONAnswer<JSON> {
        guard let user = view.subject.userID else { throw RequestFailure.needsUser }
        let (file, name) = try Self.file(request)
        var upload = try await ImportUpload(file, named: name, to: type, by: user, api.pool)
        let id: Int64
        do {
            for try await buffer in request.body { try await upload.add(buffer.readableBytesView) }
            id = try await upload.finish()
        } catch {
            await upload.abandon()
            throw error
        }
        let job = try await api.pool.withConnection { try await JobStore.job(id, of: user, $0) }
        let columns = ImportMapping.columns(job.arguments).map(\.name)
        let found = ImportMapping.suggestions(columns, of: type, view)
        let suggestions = columns.map { ($0, found[$0].map(JSON.string) ?? .null) }
        let answer: JSON = [
            "job": job.json, "columns": .array(columns.map(JSON.string)),
            "suggestions": .object(Dictionary(suggestions) { first, _ in first }),
            "members": .array(ImportMapping.memberNames(of: type, view).map(JSON.string)),
            "matches": .array(
                ([["id"]] + ImportMatch.all(of: type, view).map(\.names)).map { .array($0.map(JSON.string)) }),
            "rows": .array(upload.firstRows), "notes": ImportDesk.notes(job.arguments),
        ]
        return JSONAnswer(answer, status: .created, headers: [.location: "/jobs/\(id)"])
    }

    /// What the request says about its file.
    private static func file(_ request: Request) throws -> (file: ImportFile, name: String?) {
        let parameters = try RequestParameters(request)
        var delimiter: UInt8?
        var name: String?
        for parameter in parameters.all {
            switch (parameter.name, parameter.value) {
            case ("delimiter", "comma"): delimiter = UInt8(ascii: ",")
            case ("delimiter", "semicolon"): delimiter = UInt8(ascii: ";")
            case ("delimiter", "tab"): delimiter = UInt8(ascii: "\t")
            case ("delimiter", _):
                throw parameter.failure(
                    "unknown delimiter.", "Send comma, semicolon or tab, or leave it out to have it detected.")
            case ("name", let text): name = text
            default: throw parameter.failure("it isn't supported here.", "Expected one of: delimiter, name.")
            }
        }
        let kind = request.headers[.contentType]?.split(separator: ";").first.map {
            $0.lowercased().filter { $0 != " " }
        }
        switch kind {
        case "text/csv": return (ImportFile(.csv, delimiter: delimiter), name)
        case "text/tab-separated-values": return (ImportFile(.csv, delimiter: UInt8(ascii: "\t")), name)
        case "application/json", "application/x-ndjson": return (ImportFile(.json), name)
        default:
            throw RequestFailure(
                .unsupportedMediaType, "The file is neither CSV nor JSON.",
                hint: "Send the header Content-Type: text/csv, application/json or application/x-ndjson.",
                source: .header("Content-Type"))
        }
    }
}
