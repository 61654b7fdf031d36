import Hummingbird
package import TomboloHTTP
package import TomboloRules
package import TomboloServerModel
import TomboloLocalization

/// Permission to see or change what follows from some app's permission matrix.
package struct AnyMatrixGrant: Sendable {
    package let subject: Subject
    /// The model that the decision was based on.
    package let model: ServerModel
    /// The first app whose matrix is permitted; nil if access doesn't depend on one.
    package let app: String?
}

extension RouteAccess where Grant == AnyMatrixGrant {
    /// Access for callers whom the rules of at least one app permit to see (read) or change (update) its matrix. Used
    /// for things that belong to no single app, such as models and rules.
    package static func anyMatrix(_ operation: TomboloRules.Operation, of models: ServerModels) -> RouteAccess {
        @Sendable func permitted(_ subject: Subject, _ model: ServerModel) -> String? {
            model.matrices.keys.sorted().first { model.refusal(subject, operation, ofMatrixOf: $0) == nil }
        }
        return RouteAccess(
            summary: operation.verb(localized("the permission matrix of any app")),
            forecast: { permitted($0, models.current) == nil ? .refused : .allowed },
            decide: { subject, _, _ in
                let model = models.current
                guard let app = permitted(subject, model) else {
                    throw RequestFailure(
                        .forbidden,
                        localized("Not permitted: no app's rules let you \(operation.verb) its permission matrix."))
                }
                return AnyMatrixGrant(subject: subject, model: model, app: app)
            }
        ).opened(by: .matrix(operation))
    }
}
