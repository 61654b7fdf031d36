import Hummingbird
package import TomboloHTTP
import TomboloRules
package import TomboloServerModel
import TomboloLocalization

extension RouteAccess where Grant == ServerModel {
    /// Access for super administrators: callers whom every app's rules permit to change its permission matrix, so
    /// that they could give themselves any right. Used for the server's own things, such as its settings, and for
    /// things that contain all data, such as backups.
    package static func everyMatrix(of models: ServerModels) -> RouteAccess {
        RouteAccess(
            summary: TomboloRules.Operation.update.verb(localized("the permission matrix of every app")),
            forecast: { models.current.isSuperAdministrator($0) ? .allowed : .refused },
            decide: { subject, _, _ in
                let model = models.current
                guard model.isSuperAdministrator(subject) else {
                    throw RequestFailure(
                        .forbidden, localized("Not permitted: this page is for super administrators."),
                        hint: localized("Super administrators may change the permission matrix of every app."))
                }
                return model
            })
    }
}
