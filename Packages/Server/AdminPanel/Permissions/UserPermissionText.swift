import TomboloLocalization
import TomboloRules
import TomboloServerModel

/// What the matrices of all apps permit a user without a role, in words.
enum UserPermissionText {
    static func lines(of subject: Subject, _ model: ServerModel) -> [String] {
        let apps = model.matrices.keys.sorted()
        return apps.compactMap { app in
            guard let found = model.userPermissions(of: subject, inMatrixOf: app) else { return nil }
            let names = found.permissions.map(localizedName).joined(separator: ", ")
            let group = localizedName(found.group)
            let text =
                names.isEmpty
                ? localized("none, as one of the \(group) users") : localized("\(names), as one of the \(group) users")
            return apps.count > 1 ? "\(app): \(text)" : text
        }
    }
}
