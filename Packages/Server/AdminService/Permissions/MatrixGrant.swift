package import TomboloRules
package import TomboloServerModel

/// Permission to see or change the permission matrix of one app.
package struct MatrixGrant: Sendable {
    package let subject: Subject
    package let app: String
    /// The model that the decision was based on.
    package let model: ServerModel
    package let matrix: PermissionMatrix

    package init(subject: Subject, app: String, model: ServerModel, matrix: PermissionMatrix) {
        self.subject = subject
        self.app = app
        self.model = model
        self.matrix = matrix
    }

    /// The version of the app's rules.
    package var version: Int64 { model.ruleVersions[app] ?? 0 }
}
