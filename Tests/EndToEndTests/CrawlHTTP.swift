import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import TomboloModel

/// Finds out what a role may do over HTTP, at an admin server.
struct CrawlHTTP {
    let url: String

    /// The letters of the permitted operations, by service.
    func crawl(_ site: CrawlSite) async throws -> [String: String] {
        var found: [String: String] = [:]
        for kind in CrawlKind.all { found[kind.service] = try await letters(kind, site) }
        // Events last, because deleting an event deletes everything in it.
        found[CrawlKind.event.service] = try await letters(.event, site)
        return found
    }

    func letters(_ kind: CrawlKind, _ site: CrawlSite) async throws -> String {
        let (path, ids) = ("\(url)/api/\(kind.collection)", site.ids(kind))
        let created = try await status(.POST, path, site.token, Self.creation(kind, site))
        let read = try await status(.GET, "\(path)/\(ids[0])", site.token)
        let updated = try await status(.PATCH, "\(path)/\(ids[1])", site.token, Self.change(kind, ids[1]))
        let deleted = try await status(.DELETE, "\(path)/\(ids[2])", site.token)
        for (status, permitted) in [(created, 201), (read, 200), (updated, 200), (deleted, 204)]
        where status != permitted && ![401, 403, 404].contains(status) {
            throw EndToEndFailure("\(site.role) \(kind.name): the server answered \(status)")
        }
        return (created == 201 ? "c" : "-") + (read == 200 ? "r" : "-") + (updated == 200 ? "u" : "-")
            + (deleted == 204 ? "d" : "-")
    }

    private func status(
        _ method: HTTPMethod, _ url: String, _ token: String?, _ body: String? = nil
    ) async throws -> Int {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/vnd.api+json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        _ = try await response.body.collect(upTo: 1 << 20)
        return Int(response.status.code)
    }

    private static func creation(_ kind: CrawlKind, _ site: CrawlSite) -> String {
        var attributes = [#""\#(kind.property)": "\#(kind.after)""#]
        for (column, value) in kind.required {
            let text = if case .string(let text) = value { text } else { "2030-01-01T00:00:00Z" }
            attributes.append(#""\#(column.name)": "\#(text)""#)
        }
        var links: [String] = []
        func link(_ name: String, _ type: String, _ id: ObjectId) {
            links.append(#""\#(name)": {"data": {"type": "\#(type)", "id": "\#(id)"}}"#)
        }
        if kind.isOfEvent, kind.name != CrawlKind.event.name { link("event", "events", site.event) }
        if kind.name == CrawlKind.assignment.name { link("user", "users", site.holders[3]) }
        let relationships = links.isEmpty ? "" : #", "relationships": {\#(links.joined(separator: ", "))}"#
        return #"{"data": {"type": "\#(kind.collection)", "attributes": {\#(attributes.joined(separator: ", "))}"#
            + relationships + "}}"
    }

    private static func change(_ kind: CrawlKind, _ id: ObjectId) -> String {
        #"{"data": {"type": "\#(kind.collection)", "id": "\#(id)", "#
            + #""attributes": {"\#(kind.property)": "\#(kind.after)"}}}"#
    }
}
