import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: mistakes stop the program and say what to do")
struct SemanticMistakeTests {
    private static func realm(_ name: String) throws -> (Realm, Citizen) {
        let realm = try Realm(configuration: .init(inMemoryIdentifier: "mistake-\(name)", objectTypes: semanticClasses))
        let ada = Citizen(1, "Ada")
        ada.home = Place("Main")
        try realm.write { realm.add(ada) }
        return (realm, ada)
    }

    @Test(
        "Each mistake has its message",
        arguments: [
            ("set", "Cannot modify managed objects outside of a write transaction"),
            ("list", "Cannot modify managed objects outside of a write transaction"),
            ("deleted", "Object has been deleted or invalidated"),
            ("list index", "Index 3 is out of bounds (must be less than 0)"),
            ("list insert", "Index 3 is out of bounds (must be less than 1)"),
            ("results index", "Index 7 is out of bounds (must be less than 1)"),
            ("unmanaged index", "Index 0 is out of bounds (must be less than 0)"),
            ("name", "Citizen has no property 'nam'; did you mean 'name'?"),
            ("predicate", "Citizen has no property 'agee'; did you mean 'age'?"),
            ("sort", "Citizen has no property 'nme'; did you mean 'name'?"),
            ("aggregate", "has no sum"),
            ("unmanaged filter", "Only managed lists can be queried: add the list's object to a Realm first."),
            ("column list", "A list inside an embedded object is stored in one column"),
            ("embedded twice", "Can't set link to existing managed embedded object"),
            ("commit", "Cannot commit: the Realm is not in a write transaction."),
            ("delete unmanaged", "Can only delete an object from the Realm it belongs to."),
            ("no class", "Object type 'CodablePet' is not managed by the Realm"),
            ("links", "No property 'pet' of Citizen links to Pet; available: favourite, pets, home.guests"),
            ("frozen", "Can't perform transactions on a frozen Realm"),
        ])
    func mistakes(_ mistake: String, _ message: String) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [mistake = mistake as String] in
            let (realm, ada) = try Self.realm(mistake)
            switch mistake {
            case "set": ada.name = "x"
            case "list": ada.pets.append(Pet())
            case "deleted":
                try realm.write { realm.delete(ada) }
                print(ada.name)
            case "list index": print(ada.pets[3])
            case "list insert": try realm.write { ada.pets.insert(Pet(), at: 3) }
            case "results index": print(realm.objects(Citizen.self)[7])
            case "unmanaged index": print(List<Int>()[0])
            case "name": print(ada["nam"] ?? "")
            case "predicate": print(realm.objects(Citizen.self).filter("agee > 3").count)
            case "sort": print(realm.objects(Citizen.self).sorted(byKeyPath: "nme").count)
            case "aggregate": print(realm.objects(Citizen.self).sum(ofProperty: "name") as Int)
            case "unmanaged filter": print(Citizen().pets.filter("age > 1").count)
            case "column list": print(ada.home?.codes.filter("SELF > 1").count ?? 0)
            case "embedded twice": try realm.write { ada.places.append(ada.home ?? Place()) }
            case "commit": try realm.commitWrite()
            case "delete unmanaged": try realm.write { realm.delete(Pet()) }
            case "no class": print(realm.objects(CodablePet.self).count)
            case "links": print(realm.objects(Pet.self).filter("@links.Citizen.pet.@count > 1").count)
            case "frozen": try realm.freeze().write {}
            default: break
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(message), "\(text.prefix(600))")
    }
}
