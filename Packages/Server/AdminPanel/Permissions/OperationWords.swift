import TomboloLocalization
import TomboloRules

extension TomboloRules.Operation {
    /// As it follows "may": `update`.
    var verb: String {
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
        default: localizedName(name)
        }
    }
}
