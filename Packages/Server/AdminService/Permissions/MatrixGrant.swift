import TomboloRules
import TomboloServerModel

/// Leave to see or change the permission matrix of one app.
struct MatrixGrant: Sendable {
    let subject: Subject
    let app: String
    /// That the decision was made by.
    let model: ServerModel
    let matrix: PermissionMatrix

    /// Of the app's rules.
    var version: Int64 { model.ruleVersions[app] ?? 0 }
}
