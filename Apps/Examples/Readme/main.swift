import RealmSwift

class Listing: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var location: String
    @Persisted var price: Int
    @Persisted var bedrooms: Int
}

let app = App(id: "listings", configuration: AppConfiguration(baseURL: "http://127.0.0.1:8080"))
let user = try await app.login(credentials: .emailPassword(email: "attendee@example.org", password: "attendee-demo"))
var configuration = user.flexibleSyncConfiguration()
configuration.objectTypes = [Listing.self]
let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)

let homes = try await realm.objects(Listing.self)
    .where { $0.location == "dallas" && $0.price < 300_000 && $0.bedrooms >= 3 }
    .subscribe(name: "home-search")
print(homes.count)  // 100, and offline from now on
