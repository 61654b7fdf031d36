import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// The rows of objects as they are.
extension RowsTable {
    /// Of a text in a row. A longer one isn't edited there: a form with many of them couldn't be sent.
    static let maximumTextByteCount = 16 << 10
    /// Of all objects together, where they're too much for one answer.
    private static let maximumByteCount = HTTPLimits.listByteCount

    /// The first objects of a list.
    ///
    /// A version is of everything, also of texts that no row has. Where a few such texts are more than a list reads, the objects
    /// are read one by one, as many as there's room for.
    /// - Returns: also whether there are more.
    func read(_ query: ResourceQuery, narrowing: Predicate) async throws -> (rows: [Row], isCut: Bool) {
        var query = query
        query.page = query.page.prefix(Self.maximumRowCount)
        query.fields[type.name] = nil
        query.beginnings = [:]
        query.includes = []
        let (reader, pool) = (ResourceReader(view: view), edit.request.core.pool)
        do {
            let page = try await reader.page(type, query, narrowing: narrowing, pool)
            return (try page.resources.map { row(try PanelResource($0)) }, page.next != nil)
        } catch let error as PostgresError where error.code == .resultTooLarge {
            query.fields[type.name] = []
        }
        let page = try await reader.page(type, query, narrowing: narrowing, pool)
        var rows: [Row] = []
        var byteCount = 0
        for listed in page.resources {
            guard byteCount < Self.maximumByteCount else { return (rows, true) }
            let key = try listed.plan.key(listed.row)
            // It may be gone by now.
            guard let found = try await reader.single(type, key: key, ResourceQuery(), pool) else { continue }
            let resource = try PanelResource(found.resource)
            byteCount += resource.byteCount
            rows.append(row(resource))
        }
        return (rows, page.next != nil)
    }

    /// A text that is too long for a row has nothing entered, which stays as it is.
    func row(_ resource: PanelResource) -> Row {
        var row = Row(
            id: resource.id, title: resource.title(ClassTitle.field(of: type, view)),
            version: resource.version ?? "", was: [:], entered: [:])
        for field in fields.compactMap({ FormField($0) }) {
            let json = resource.attribute(field.field.name) ?? .null
            if case .string(let text) = json, text.utf8.count > Self.maximumTextByteCount { continue }
            row.was[field.field.name] = json
            row.entered[field.field.name] = field.text(json)
        }
        return row
    }
}
