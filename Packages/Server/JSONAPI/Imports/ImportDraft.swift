package import TomboloHTTP
import TomboloModel

/// An uploaded file whose import hasn't been started.
package struct ImportDraft: Sendable {
    package let id: Int64
    /// The file's columns, in its order.
    package let columns: [String]
    package let rowCount: Int64
    let job: Job
    /// The arguments that ``JobStore`` has, with the user's choices.
    let arguments: JSON
    let mapping: ImportMapping

    /// The member that each column maps to; null for none.
    package var members: [String: JSON] { mapping.json }
    package var mode: ImportMapping.Mode { mapping.mode }

    /// Everything that decides what happens to the rows.
    var choices: JSON {
        [
            "job": .int(id), "class": .string(mapping.type.item.name), "mapping": .object(mapping.json),
            "mode": .string(mapping.mode.rawValue), "match": mapping.matchJSON,
            "formulas": mapping.unguards ? "guarded" : "plain",
        ]
    }

    /// The arguments of the job that the draft becomes.
    var chosen: JSON {
        guard case .object(var members) = arguments else { return arguments }
        members["mapping"] = .object(mapping.json)
        members["mode"] = .string(mapping.mode.rawValue)
        members["match"] = mapping.matchJSON
        members["formulas"] = mapping.unguards ? "guarded" : "plain"
        return .object(members)
    }
}
