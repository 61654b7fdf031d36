import TomboloRules
import TomboloServerModel

extension ServerModel {
    /// Whether the rules of every app permit somebody to change its permission matrix, so that there is no right that they
    /// couldn't give themselves.
    func isSuperAdministrator(_ subject: Subject) -> Bool {
        let apps = matrices.keys
        return !apps.isEmpty && apps.allSatisfy { refusal(subject, .update, ofMatrixOf: $0) == nil }
    }
}
