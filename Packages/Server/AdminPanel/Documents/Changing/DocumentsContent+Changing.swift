import AdminService
import TomboloHTTP
import TomboloServerModel

extension DocumentsContent {
    /// Offers changing the documents to callers who may and aren't viewing as somebody else; or says how to switch it
    /// on.
    mutating func offerChanges(to request: PanelRequest) {
        guard let models = request.core.models, request.visit.viewing == nil,
            RouteAccess.everyMatrix(of: models).mayAdmit(request.subject)
        else { return }
        guard request.core.modelChanges != nil else {
            missingVariable = ModelChanges.variable
            return
        }
        for place in apps.indices where apps[place].modelLink != nil {
            apps[place].changeLink = ModelChangePages.path(of: apps[place].name)
        }
    }
}
