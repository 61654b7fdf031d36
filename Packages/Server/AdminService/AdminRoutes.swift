import Foundation
import HTTPTypes
import Hummingbird
public import PostgresClient
public import TomboloHTTP
import TomboloModel
public import TomboloRules

/// The routes of the admin server. Everything under `/admin` is for those who may list the trash of a class:
/// administrators.
///
/// - `GET /admin/trash?class=&event=&page=`
/// - `POST /admin/{users|events|sessions}/{id}/trash`
/// - `POST /admin/trash/{id}/restore` with the id of an object or of a group
/// - `GET /events/{id}/sessions`
/// - `DELETE /sessions/{id}`: into the trash, for those whom the rules permit it
public struct AdminRoutes: Sendable {
    private let rules: LiveRules
    private let trash: Trash
    private let trashList: TrashList
    private let reader: RowReader

    public init(rules: LiveRules, pool: PostgresPool) {
        self.rules = rules
        trash = Trash(schema: rules.schema, pool: pool)
        trashList = TrashList(schema: rules.schema, pool: pool)
        reader = RowReader(schema: rules.schema, pool: pool)
    }

    public func add(to routes: Routes) {
        let names = trash.classes.map(\.name)
        routes.on(.get, "/admin/trash", access: .objects(.listTrash, ofAny: names, by: rules)) {
            request, _, grant in
            JSONAnswer(try await list(request, grant))
        }
        for name in names {
            routes.on(
                .post, "/admin/\(Self.collection(name))/{id}/trash",
                access: .object(.trash, of: name, by: rules, from: reader)
                    .and(.objects(.listTrash, of: name, by: rules))
            ) { _, _, grant in
                JSONAnswer(try await moveToTrash(name, grant))
            }
        }
        routes.on(
            .post, "/admin/trash/{id}/restore",
            access: .objects(.restore, ofAny: names, by: rules).and(.objects(.listTrash, ofAny: names, by: rules))
        ) { _, context, grant in
            JSONAnswer(try await restore(TrashAddress(context.parameters.get("id")), grant))
        }
        guard rules.schema["Session"] != nil, rules.schema["Event"] != nil else { return }
        routes.on(.get, "/events/{id}/sessions", access: .objects(.read, of: "Session", by: rules)) {
            _, context, grant in
            JSONAnswer(try await sessions(event: context.id(), grant))
        }
        routes.on(.delete, "/sessions/{id}", access: .object(.trash, of: "Session", by: rules, from: reader)) {
            _, _, grant in
            JSONAnswer(try await moveToTrash("Session", grant))
        }
    }

    /// `Session` → `sessions`, as in addresses.
    static func collection(_ className: String) -> String { "\(Column.sqlName(for: className))s" }

    private func list(_ request: Request, _ grant: ClassesGrant) async throws -> JSON {
        var filters = grant.filters
        if let name = request.uri.queryParameters["class"] {
            let known = trash.classes.map(\.name)
            guard let name = known.first(where: { $0 == name }) else {
                throw RequestFailure(
                    .badRequest, "'class' names no class that has a trash.",
                    hint: "Choose one of \(known.joined(separator: ", ")).")
            }
            guard let filter = filters[name] else {
                throw RequestFailure(.forbidden, "Not permitted to list the trash of \(name).")
            }
            filters = [name: filter]
        }
        return try await trashList.page(request.page(), filters: filters, event: request.queryID("event"))
    }

    private func moveToTrash(_ className: String, _ grant: ObjectGrant) async throws -> JSON {
        let group = try await trash.trash(className, grant.id, by: grant.subject.userID)
        return [
            "class": .string(className), "_id": .string(grant.id.stringValue),
            "group": .string(group.id.uuidString.lowercased()), "count": .int(Int64(group.count)),
        ]
    }

    private func restore(_ address: TrashAddress, _ grant: ClassesGrant) async throws -> JSON {
        let restored = try await trash.restore(address) { member in
            guard let index = rules.schema.index(of: member.className) else { return false }
            let resource = Resource.object(classIndex: index, old: member.row, new: member.row)
            return rules.authorize(grant.subject, .restore, resource).isAllowed
        }
        return [
            "count": .int(Int64(restored.count)),
            "restored": .array(
                restored.map { ["class": .string($0.className), "_id": .string($0.id.stringValue)] }),
        ]
    }

    private func sessions(event: ObjectId, _ grant: ObjectsGrant) async throws -> JSON {
        guard let item = rules.schema["Session"], let key = item.primaryKeyIndex else { return .null }
        return try await reader.snapshot { reader in
            _ = try await reader.readable("Event", id: event, by: grant.subject, under: rules.current)
            let ofEvent = Predicate.compare(PropertyPath("event"), .equal, .objectId(event))
            let rows = try await reader.objects(
                "Session", matching: .and([ofEvent, grant.filter]), sortedBy: ["startsAt", "title"])
            var lists: [String: [Value: [Value]]] = [:]
            for list in item.lists {
                lists[list.name] = try await reader.list(list.name, of: "Session", owners: rows.map { $0[key] })
            }
            let sessions = rows.map { row -> JSON in
                guard case .object(var members) = JSON(row, of: item) else { return .null }
                for (name, targets) in lists { members[name] = .array((targets[row[key]] ?? []).map { JSON($0) }) }
                return .object(members)
            }
            return ["event": .string(event.stringValue), "sessions": .array(sessions)]
        }
    }
}
