import Foundation
import HTTPTypes
import Hummingbird
public import PostgresClient
public import TomboloHTTP
import TomboloModel
public import TomboloRules

/// The routes of the admin server that work on the current model's classes. Everything under `/admin` is restricted
/// to callers who may list a class's trash, that is, administrators. `{collection}` names a class: `listings` is the
/// class `Listing`.
///
/// - `GET /admin/trash?class=&page=`, also filtered by any property, see ``TrashFilter``
/// - `POST /admin/{collection}/{id}/trash`, with `{"reason": "…"}` or without a body
/// - `POST /admin/trash/{id}/restore` with the id of an object or of a group; see ``RestoreWishes``
/// - `DELETE /admin/trash/{id}` permanently deletes an object or a group
/// - `POST /admin/trash/empty?class=&after=` permanently deletes everything that is listed, a bounded amount per
///   request
/// - `GET /admin/trash/purge`: the runs of the automatic purge, and what it kept
/// - `POST /admin/trash/purge` runs it now; with `{"dryRun": true}` it only reports what it would do
/// - `DELETE /{collection}/{id}`: moves an object into the trash, for callers whom the rules permit to
public struct AdminRoutes: Sendable {
    private let rules: LiveRules
    private let pool: PostgresPool

    public init(rules: LiveRules, pool: PostgresPool) {
        self.rules = rules
        self.pool = pool
    }

    public func add(to routes: Routes) {
        let names: @Sendable (Schema) -> [String] = { Trash.classes(of: $0).map(\.name) }
        routes.on(.get, "/admin/trash", access: .objects(.listTrash, ofAny: Trash.objectWords, names, by: rules)) {
            request, _, grant in
            JSONAnswer(try await list(request, grant))
        }
        routes.on(
            .post, "/admin/{collection}/{id}/trash",
            access: .object(
                .trash, ofAny: Trash.objectWords, Self.className, among: names, also: .listTrash, by: rules, from: pool
            )
            .and(.objects(.listTrash, ofAny: Trash.objectWords, names, by: rules))
        ) { request, context, grant in
            JSONAnswer(try await moveToTrash(grant, reason(request, context)))
        }
        routes.on(
            .post, "/admin/trash/{id}/restore",
            access: .objects(.restore, ofAny: Trash.objectWords, names, by: rules)
                .and(.objects(.listTrash, ofAny: Trash.objectWords, names, by: rules))
        ) { request, context, grant in
            JSONAnswer(
                try await restore(
                    TrashAddress(context.parameters.get("id")?.removingPercentEncoding),
                    RestoreWishes(request, context), grant))
        }
        routes.on(
            .delete, "/admin/trash/{id}",
            access: .objects(.purge, ofAny: Trash.objectWords, names, by: rules)
                .and(.objects(.listTrash, ofAny: Trash.objectWords, names, by: rules))
        ) { _, context, grant in
            JSONAnswer(try await purge(TrashAddress(context.parameters.get("id")?.removingPercentEncoding), grant))
        }
        routes.on(
            .post, "/admin/trash/empty",
            access: .objects(.purge, ofAny: Trash.objectWords, names, by: rules)
                .and(.objects(.listTrash, ofAny: Trash.objectWords, names, by: rules))
        ) { request, _, grant in
            JSONAnswer(try await empty(request, grant))
        }
        for method in [HTTPRequest.Method.get, .post] {
            routes.on(
                method, "/admin/trash/purge",
                access: .objects(.purge, ofAny: Trash.objectWords, names, by: rules)
                    .and(.objects(.listTrash, ofAny: Trash.objectWords, names, by: rules))
            ) { request, context, grant in
                let purge = TrashPurge(schema: grant.rules.schema, pool: pool)
                return JSONAnswer(
                    try await method == .get ? purge.history() : run(purge, request, context))
            }
        }
        routes.on(
            .delete, "/{collection}/{id}",
            access: .object(.trash, ofAny: Trash.objectWords, Self.className, among: names, by: rules, from: pool)
        ) { request, context, grant in
            JSONAnswer(try await moveToTrash(grant, reason(request, context)))
        }
    }

    /// `Listing` → `listings`, as in addresses.
    static func collection(_ className: String) -> String { ClassSchema.collectionName(of: className) }

    /// The class that an address names, possibly by one of the class's previous names.
    private static func className(_ schema: Schema, _ context: EdgeContext) throws -> String {
        let wanted = context.parameters.get("collection")
        let classes = Trash.classes(of: schema)
        let found =
            classes.first { collection($0.name) == wanted }
            ?? classes.first { $0.previousNames.contains { collection($0) == wanted } }
        guard let found else {
            let known = classes.map { collection($0.name) }.joined(separator: ", ")
            throw RequestFailure(
                .notFound, "There is nothing at this address.",
                hint: known.isEmpty ? "No class has a trash." : "Classes with a trash: \(known).")
        }
        return found.name
    }

    private func list(_ request: Request, _ grant: ClassesGrant) async throws -> JSON {
        try await TrashList(
            schema: grant.rules.schema, hidden: grant.rules.hiddenColumns(grant.subject), pool: pool
        )
        .page(request.page(), filters: filters(request, grant, ignoring: ["page"]), listing: grant.filters)
    }

    private func empty(_ request: Request, _ grant: ClassesGrant) async throws -> JSON {
        var cursor: TrashQueue.Cursor?
        if let text = request.uri.queryParameters["after"] {
            cursor = TrashQueue.Cursor(String(text))
            guard cursor != nil else {
                throw RequestFailure(.badRequest, "'after' must be the 'next' value of an earlier response.")
            }
        }
        let trash = Trash(schema: grant.rules.schema, pool: pool)
        return try await TrashEmptying(trash: trash, filters: filters(request, grant, ignoring: ["after"]))
            .empty(after: cursor)
    }

    /// The objects that the caller may perform the route's operation on and asks for: by class, and by any property.
    private func filters(
        _ request: Request, _ grant: ClassesGrant, ignoring others: Set<String>
    ) throws -> [String: TomboloModel.Predicate] {
        let schema = grant.rules.schema
        var filters = grant.filters
        if let name = request.uri.queryParameters["class"] {
            let known = Trash.classes(of: schema)
            guard let item = known.first(where: { $0.name == name || $0.previousNames.contains(String(name)) }) else {
                throw RequestFailure(
                    .badRequest, "'class' isn't a class with a trash.",
                    hint: "Choose one of \(known.map(\.name).joined(separator: ", ")).")
            }
            guard let filter = filters[item.name] else {
                throw RequestFailure(.forbidden, "Not permitted to use the trash of \(item.name).")
            }
            filters = [item.name: filter]
        }
        // A parameter that isn't understood must be an error. If it were ignored, the request would apply to
        // everything.
        var seen: Set<String> = []
        for (name, text) in request.uri.queryParameters {
            let property = String(name)
            guard seen.insert(property).inserted else {
                throw RequestFailure(.badRequest, "A parameter occurs twice.", hint: "Give each parameter once.")
            }
            guard property != "class", !others.contains(property) else { continue }
            guard let filter = try TrashFilter(property, String(text), grant.rules, grant.subject) else {
                throw RequestFailure(
                    .badRequest, "A parameter is neither 'class' nor a property.",
                    hint: "Filter by properties of classes with a trash, spelt as in the model.")
            }
            filters = filter.narrow(filters)
        }
        return filters
    }

    /// Whether a purge only reports what it would do: `{"dryRun": true}`. Without a body it deletes.
    private func isDryRun(_ request: Request, _ context: EdgeContext) async throws -> Bool {
        let hint = #"Send {"dryRun": true} to see what it would delete, or no body to delete it."#
        guard request.uri.queryParameters.isEmpty else {
            throw RequestFailure(.badRequest, "A purge takes no query parameters.", hint: hint)
        }
        guard let content = try await request.optionalJSON(JSON.self, context) else { return false }
        guard case .object(let members) = content, members.keys.allSatisfy({ $0 == "dryRun" }) else {
            throw RequestFailure(.badRequest, "The body must be an object with only 'dryRun'.", hint: hint)
        }
        switch members["dryRun"] {
        case nil: return false
        case .bool(let isDry)?: return isDry
        default: throw RequestFailure(.badRequest, "'dryRun' must be true or false.", hint: hint)
        }
    }

    private func run(_ purge: TrashPurge, _ request: Request, _ context: EdgeContext) async throws -> JSON {
        let now = Date().microsecondsSince1970
        if try await isDryRun(request, context) {
            return try await purge.preview(now: now)
        }
        guard let report = try await purge.run(now: now) else {
            throw RequestFailure(
                .conflict, "Another process is purging the trash.", hint: "GET /admin/trash/purge shows its progress.")
        }
        return [
            "dryRun": false, "groups": .int(Int64(report.groups)), "objects": .int(Int64(report.objects)),
            "kept": .int(Int64(report.kept)), "failed": .int(Int64(report.failed)), "hasMore": .bool(report.hasMore),
        ]
    }

    private func purge(_ address: TrashAddress, _ grant: ClassesGrant) async throws -> JSON {
        let purged = try await Trash(schema: grant.rules.schema, pool: pool).purge(
            address, by: Trash.Restorer(subject: grant.subject, rules: grant.rules))
        return ["count": .int(Int64(purged.count))]
    }

    /// The reason for moving something into the trash: `{"reason": "…"}`, or no body.
    private func reason(_ request: Request, _ context: EdgeContext) async throws -> TrashReason? {
        guard let content = try await request.optionalJSON(JSON.self, context) else { return nil }
        guard case .object(let members) = content, members.keys.allSatisfy({ $0 == "reason" }) else {
            throw RequestFailure(
                .badRequest, "The body must be an object with only 'reason'.",
                hint: #"Send {"reason": "…"}, or no body."#)
        }
        return try TrashReason(members["reason"], at: .pointer("/reason"))
    }

    private func moveToTrash(_ grant: ObjectGrant, _ reason: TrashReason?) async throws -> JSON {
        let trash = Trash(schema: grant.rules.schema, pool: pool)
        let group = try await trash.trash(grant.className, grant.key, by: grant.subject.userID, because: reason)
        return [
            "class": .string(grant.className), "_id": .string(grant.key.keyText),
            "group": .string(group.id.uuidString.lowercased()), "count": .int(Int64(group.count)),
        ]
    }

    private func restore(
        _ address: TrashAddress, _ wishes: RestoreWishes, _ grant: ClassesGrant
    ) async throws -> JSON {
        let restored = try await Trash(schema: grant.rules.schema, pool: pool).restore(
            address, wishes, by: Trash.Restorer(subject: grant.subject, rules: grant.rules))
        return [
            "count": .int(Int64(restored.count)),
            "restored": .array(
                restored.map { ["class": .string($0.className), "_id": .string($0.key.keyText)] }),
        ]
    }
}
