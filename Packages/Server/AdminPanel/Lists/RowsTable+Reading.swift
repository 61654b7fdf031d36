import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// Fills the rows from the current objects.
extension RowsTable {
    /// The maximum size of a text that can be edited in a row. A form with many longer ones couldn't be sent.
    static let maximumTextByteCount = 16 << 10
    /// The maximum size of all objects together, when they exceed one response.
    private static let maximumByteCount = HTTPLimits.listByteCount

    /// The first objects of a list.
    ///
    /// A row's version covers the whole object, including texts that aren't shown. If those exceed what a list reads at
    /// once, the objects are read one by one, as many as fit.
    /// - Returns: the rows, and whether there are more.
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

    /// The row for an object. A text that is too long for a row has no entered value, which leaves it unchanged.
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
