import TomboloRules
import TomboloServerModel

extension ServerModel {
    /// Whether every app's rules permit the subject to change its permission matrix, so that they could give
    /// themselves any right.
    func isSuperAdministrator(_ subject: Subject) -> Bool {
        let apps = matrices.keys
        return !apps.isEmpty && apps.allSatisfy { refusal(subject, .update, ofMatrixOf: $0) == nil }
    }
}
