import Foundation
import TomboloHTTP

/// Some members of a resource as JSON, in the form that a change takes: `{"attributes": {…}, "relationships": {"event":
/// {"data": …}}}`.
struct ResourceMembers: Sendable {
    private static let parts = ["attributes", "relationships"]

    /// By part and name.
    private var members: [String: [String: JSON]] = [:]

    /// The members of a resource object, or of the value of ``json``.
    /// - Parameter names: nil for all.
    init(_ resource: JSON?, named names: Set<String>? = nil) {
        for part in Self.parts {
            guard case .object(let values)? = resource?[part] else { continue }
            for (name, value) in values where names?.contains(name) ?? true {
                if part == "attributes" {
                    members[part, default: [:]][name] = value
                } else if let data = value["data"] {
                    members[part, default: [:]][name] = ["data": data]
                }
            }
        }
    }

    var names: Set<String> { Set(members.values.flatMap(\.keys)) }
    var isEmpty: Bool { members.isEmpty }
    var json: JSON { .object(members.mapValues(JSON.object)) }

    /// The lists among these fields that are missing here, or in their embedded objects, like
    /// ``ResourceField/unshownLists(in:)``.
    func unshownLists(of fields: [ResourceField]) -> [Int: String] {
        fields.reduce(into: [:]) { lists, field in
            let json = members[field.isRelationship ? "relationships" : "attributes"]?[field.name]
            lists.merge(field.unshownLists(in: json)) { first, _ in first }
        }
    }

    /// The names of members with the same value in both.
    func same(as other: ResourceMembers) -> Set<String> {
        Set(
            Self.parts.flatMap { part in
                (members[part] ?? [:]).filter { other.members[part]?[$0.key] == $0.value }.keys
            })
    }
}
