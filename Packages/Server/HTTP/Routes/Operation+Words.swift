import TomboloLocalization
package import TomboloRules

extension TomboloRules.Operation {
    /// The operation's name as it follows "may": `update`.
    package var verb: String {
        switch self {
        case .read: localized("read", context: "may …")
        case .create: localized("create", context: "may …")
        case .update: localized("update", context: "may …")
        case .delete: localized("delete", context: "may …")
        case .trash: localized("trash", context: "may …")
        case .listTrash: localized("listTrash", context: "may …")
        case .restore: localized("restore", context: "may …")
        case .inspect: localized("inspect", context: "may …")
        case .purge: localized("purge", context: "may …")
        case .transfer: localized("transfer", context: "may …")
        case Operation("audit"): localized("audit", context: "may …")
        default: localizedName(name)
        }
    }

    /// A permission in words: `update objects of a class`.
    package func verb(_ what: String) -> String { Self.verb(verb, what) }

    /// - Parameter verb: the name of one operation, or of several.
    package static func verb(_ verb: String, _ what: String) -> String {
        localized("\(verb) \(what)", context: "permission")
    }
}
