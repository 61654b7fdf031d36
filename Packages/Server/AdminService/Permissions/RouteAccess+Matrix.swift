import Hummingbird
package import TomboloHTTP
package import TomboloRules
package import TomboloServerModel
import TomboloLocalization

extension RouteAccess where Grant == MatrixGrant {
    /// Access for callers whom an app's rules permit to see (read) or change (update) its matrix. If there are
    /// several apps, the query's `app` names one.
    package static func matrix(_ operation: TomboloRules.Operation, of models: ServerModels) -> RouteAccess {
        RouteAccess(
            summary: operation.verb(localized("the permission matrix")),
            forecast: { subject in
                let model = models.current
                let isPermitted = model.matrices.keys.contains {
                    model.refusal(subject, operation, ofMatrixOf: $0) == nil
                }
                return isPermitted ? .allowed : .refused
            },
            decide: { subject, request, _ in
                let model = models.current
                let matrices = model.matrices
                let apps = matrices.keys.sorted()
                guard let first = apps.first else {
                    throw RequestFailure(
                        .notFound, localized("No app's rules have a permission matrix."),
                        hint: localized("Add a section 'matrix' to the rules: see docs/rules.md."))
                }
                let permitted = apps.filter { model.refusal(subject, operation, ofMatrixOf: $0) == nil }
                if permitted.isEmpty, let denial = model.refusal(subject, operation, ofMatrixOf: first) {
                    throw RequestFailure(denial)
                }
                let known = permitted.joined(separator: ", ")
                let wanted = request.uri.queryParameters["app"].map { String($0) }
                guard let app = wanted ?? (permitted.count == 1 ? permitted.first : nil) else {
                    throw RequestFailure(
                        .badRequest, localized("Several apps have a permission matrix."),
                        hint: localized("Name one with ?app=: \(known)."))
                }
                guard permitted.contains(app), let matrix = matrices[app] else {
                    throw RequestFailure(
                        .notFound, localized("No app with this name has a permission matrix."),
                        hint: localized("Apps with one: \(known)."))
                }
                return MatrixGrant(subject: subject, app: app, model: model, matrix: matrix)
            }
        ).opened(by: .matrix(operation))
    }
}
