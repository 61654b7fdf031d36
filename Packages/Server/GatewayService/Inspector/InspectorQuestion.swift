internal import Hummingbird
internal import TomboloChangesets
internal import TomboloHTTP
internal import TomboloModel
internal import TomboloRules
internal import TomboloSyncSession

/// `?class=&id=&property=` and `client=` or `user=`: why does this device not have this object?
struct InspectorQuestion: Sendable {
    let className: String
    let key: Value
    let property: String?
    let client: ClientID?
    let user: String?

    /// - Throws: ``RequestFailure`` with status 400 for a question that can't be answered, or 403 for one about a
    ///   class that the caller may not inspect.
    init(_ request: Request, _ view: InspectorView) throws {
        let schema = view.grant.rules.schema
        guard let name = request.uri.queryParameters["class"].map(String.init),
            let id = request.uri.queryParameters["id"]
        else {
            throw RequestFailure(
                .badRequest, "The question doesn't name an object.",
                hint: "Add class=NAME and id=KEY, and client=DEVICE or user=ID.")
        }
        guard let item = schema[name] else {
            let hint = name.nearest(in: schema.classes.map(\.name)).map { " Did you mean \($0)?" } ?? ""
            throw RequestFailure(.badRequest, "There is no class '\(name.shortened(toByteCount: 100))'.\(hint)")
        }
        if let owner = item.owner {
            throw RequestFailure(
                .badRequest, "\(item.name) is a list: ask about the object that has it.",
                hint: "Use class=\(owner.className) and property=\(owner.property).")
        }
        guard let column = item.primaryKey else {
            throw RequestFailure(
                .badRequest, "\(item.name) is an embedded class: ask about the objects that contain it.")
        }
        guard view.includes(item.name) else {
            throw RequestFailure(.forbidden, "Not permitted: no role lets you inspect \(item.name).")
        }
        guard let key = schema.storedType(of: column).keyValue(String(id)) else {
            throw RequestFailure(
                .badRequest, "'id' isn't a valid key of \(item.name) (type \(column.type.name)).")
        }
        className = item.name
        self.key = key
        property = request.uri.queryParameters["property"].map(String.init)
        if let property, item.columnIndex(property) == nil, schema.index(of: "\(item.name).\(property)") == nil {
            let names = item.columns.map(\.name) + item.lists.map(\.name)
            let hint = property.nearest(in: names).map { " Did you mean '\($0)'?" } ?? ""
            throw RequestFailure(
                .badRequest, "\(item.name) has no property '\(property.shortened(toByteCount: 100))'.\(hint)")
        }
        client = try request.client()
        user = request.uri.queryParameters["user"].map(String.init)
        guard client != nil || user != nil else {
            throw RequestFailure(
                .badRequest, "The question doesn't name a device.",
                hint: "Add client=DEVICE, as listed by GET /inspector/sessions, or user=ID for all devices of a user.")
        }
    }
}

extension Request {
    /// The device's id from the query, in the form that logs and the inspector use, or nil if the query has none.
    func client() throws -> ClientID? {
        guard let text = uri.queryParameters["client"] else { return nil }
        guard let number = Int64(text, radix: 36), number > 0 else {
            throw RequestFailure(
                .badRequest, "'client' isn't a device id.", hint: "GET /inspector/sessions lists them.")
        }
        return ClientID(rawValue: number)
    }

    /// How many subscriptions of each session a list shows.
    func subscriptionCount() throws -> Int {
        guard let text = uri.queryParameters["subscriptions"] else { return Inspector.maximumSubscriptionCount }
        guard let count = Int(text), (0...Inspector.maximumSubscriptionCount).contains(count) else {
            throw RequestFailure(
                .badRequest, "'subscriptions' must be a number from 0 to \(Inspector.maximumSubscriptionCount).")
        }
        return count
    }

    func sessionFilter() throws -> SessionFilter {
        var filter = SessionFilter()
        filter.client = try client()
        filter.user = uri.queryParameters["user"].map(String.init)
        if let text = uri.queryParameters["state"] {
            guard let state = ServerSession.State(rawValue: String(text)) else {
                throw RequestFailure(
                    .badRequest, "'state' isn't a session state.",
                    hint: "Choose one of \(ServerSession.State.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            filter.state = state
        }
        return filter
    }
}
