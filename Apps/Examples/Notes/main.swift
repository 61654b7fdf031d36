import RealmSwift

class Note: Object {
    @Persisted var text: String
    @Persisted var stars = 0
}

let realm = try Realm()  // finds the model classes by itself
let best = realm.objects(Note.self).filter("stars > %@ AND text BEGINSWITH[c] %@", 2, "re")
let token = best.observe { change in
    if case .update(_, let deletions, let insertions, let modifications) = change {
        print(deletions, insertions, modifications)
    }
}
try realm.write { realm.add(Note(value: ["text": "Remember the tide", "stars": 5])) }
print(best.count)
token.invalidate()
