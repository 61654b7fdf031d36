import Hummingbird
package import TomboloHTTP
import TomboloRules
package import TomboloServerModel
import TomboloLocalization

extension RouteAccess where Grant == ServerModel {
    /// For super administrators: those whom the rules of every app permit to change its permission matrix, so that there is
    /// no right that they couldn't give themselves. For what is the server's own, such as its settings, and for what
    /// holds everything that there is, such as backups.
    package static func everyMatrix(of models: ServerModels) -> RouteAccess {
        RouteAccess(
            summary: TomboloRules.Operation.update.verb(localized("the permission matrix of every app")),
            forecast: { models.current.isSuperAdministrator($0) ? .allowed : .refused },
            decide: { subject, _, _ in
                let model = models.current
                guard model.isSuperAdministrator(subject) else {
                    throw RequestFailure(
                        .forbidden, localized("Not permitted: this page is for super administrators."),
                        hint: localized("They are those who may change the permission matrix of every app."))
                }
                return model
            })
    }
}
