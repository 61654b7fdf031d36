import Hummingbird
package import TomboloHTTP
import TomboloLocalization
import TomboloRules
package import TomboloServerModel

extension RouteAccess where Grant == ServerModel {
    /// Access for callers whom the rules permit to `inspect` objects of some class, and who may therefore see what
    /// others see. ``ViewAs/refusal(of:looking:_:)`` decides which users they may view the server as.
    package static func inspecting(_ models: ServerModels) -> RouteAccess {
        RouteAccess(
            summary: TomboloRules.Operation.inspect.verb(localized("objects of any class")),
            forecast: { ViewAs.mayInspect($0, models.current) ? .allowed : .refused },
            decide: { subject, _, _ in
                let model = models.current
                guard ViewAs.mayInspect(subject, model) else { throw ViewAs.notPermitted }
                return model
            }
        ).opened(by: .objects(.inspect))
    }
}
