import HTTPTypes
import Hummingbird
package import TomboloHTTP
import TomboloModel

/// How the caller wants clashes resolved; the body of a restore: `{"values": {"ID": {"email": "new@example.org"}},
/// "leave": ["ID"], "swap": ["ID"]}`. Each `ID` is the address of an object in the trash, which is the object's id if
/// that is an ObjectId. Every member is optional, and so is the body.
package struct RestoreWishes: Sendable {
    /// New values of unique properties, by object and property.
    package var values: [TrashAddress: [String: JSON]] = [:]
    /// Objects that stay in the trash.
    package var leave: Set<TrashAddress> = []
    /// Objects whose live counterparts go into the trash instead, each in its own group.
    package var swap: Set<TrashAddress> = []

    /// Without wishes, any clash refuses the restore.
    package init() {}

    /// - Throws: ``RequestFailure`` with status 400 for a body of any other form.
    init(_ request: Request, _ context: EdgeContext) async throws {
        guard let content = try await request.optionalJSON(JSON.self, context) else { return }
        guard case .object(let members) = content else {
            throw RequestFailure(.badRequest, "The body isn't a JSON object.", hint: Self.hint)
        }
        for (name, value) in members {
            switch (name, value) {
            case ("values", .object(let objects)):
                for (text, properties) in objects {
                    let id = try Self.id(text, name)
                    guard case .object(let properties) = properties else {
                        throw RequestFailure(
                            .badRequest, "'values' must have an object for \(id.text).",
                            hint: Self.hint)
                    }
                    values[id] = properties
                }
            case ("leave", .array(let ids)): leave = try Self.ids(ids, name)
            case ("swap", .array(let ids)): swap = try Self.ids(ids, name)
            case ("values", _), ("leave", _), ("swap", _):
                throw RequestFailure(.badRequest, "'\(name)' has the wrong shape.", hint: Self.hint)
            default:
                throw RequestFailure(.badRequest, "The body has an unknown member.", hint: Self.hint)
            }
        }
        for id in leave where values[id] != nil || swap.contains(id) {
            throw RequestFailure(
                .badRequest, "\(id.text) can't both stay in the trash and be restored.", hint: Self.hint)
        }
    }

    /// Every object that the wishes name.
    var ids: Set<TrashAddress> { leave.union(swap).union(values.keys) }

    private static let hint =
        #"Send {"values": {"ID": {"property": value}}, "leave": ["ID"], "swap": ["ID"]}, with addresses of objects in "#
        + "the trash from GET /admin/trash; each member is optional."

    private static func ids(_ list: [JSON], _ name: String) throws -> Set<TrashAddress> {
        Set(
            try list.map { item in
                guard case .string(let text) = item else {
                    throw RequestFailure(.badRequest, "'\(name)' contains something that isn't an id.", hint: hint)
                }
                return try id(text, name)
            })
    }

    private static func id(_ text: String, _ name: String) throws -> TrashAddress {
        guard let id = try? TrashAddress(text), !id.isGroup else {
            throw RequestFailure(.badRequest, "'\(name)' contains something that isn't an id.", hint: hint)
        }
        return id
    }
}
