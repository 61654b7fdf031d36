package import TomboloHTTP
import TomboloModel

/// A file that was uploaded, and waits to be started.
package struct ImportDraft: Sendable {
    package let id: Int64
    /// Of the file, in its order.
    package let columns: [String]
    package let rowCount: Int64
    let job: Job
    /// As ``JobStore`` has them, with what the person chose.
    let arguments: JSON
    let mapping: ImportMapping

    /// The member that each column becomes; null for nothing.
    package var members: [String: JSON] { mapping.json }
    package var mode: ImportMapping.Mode { mapping.mode }

    /// Everything that decides what becomes of the rows.
    var choices: JSON {
        [
            "job": .int(id), "class": .string(mapping.type.item.name), "mapping": .object(mapping.json),
            "mode": .string(mapping.mode.rawValue), "match": mapping.matchJSON,
            "formulas": mapping.unguards ? "guarded" : "plain",
        ]
    }

    /// The arguments of the job that it becomes.
    var chosen: JSON {
        guard case .object(var members) = arguments else { return arguments }
        members["mapping"] = .object(mapping.json)
        members["mode"] = .string(mapping.mode.rawValue)
        members["match"] = mapping.matchJSON
        members["formulas"] = mapping.unguards ? "guarded" : "plain"
        return .object(members)
    }
}
