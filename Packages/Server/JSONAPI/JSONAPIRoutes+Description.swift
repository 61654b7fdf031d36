import HTTPTypes
import Hummingbird
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules

extension JSONAPIRoutes {
    func addDescription(to routes: Routes) {
        let descriptions = SchemaCache { schema in
            var json = JSONBytes()
            OpenAPIDocument(ResourceTypes(schema)).json.append(to: &json)
            return JSONAPIDocument(json, contentType: "application/json")
        }
        routes.on(
            .get, "\(Self.path)/openapi.json",
            access: .anyObjects(
                localized("read", context: "may …"), ofAny: localized("objects of any class"), isOpen: true, by: rules
            ) {
                ResourceType.isServed($0) ? [.read] : []
            }
        ) { request, _, grant in
            try RequestDocument.checkNoParameters(request)
            return try descriptions.value(for: grant.rules.schema).validated(for: request)
        }
    }
}
