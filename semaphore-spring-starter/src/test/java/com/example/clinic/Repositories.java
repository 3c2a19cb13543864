package com.example.clinic;

import java.time.LocalDate;
import java.util.List;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Query;

/** The repositories of {@link ClinicApplication}: queries by name for each entity, and some in HQL. */
final class Repositories {

    private Repositories() {}

    interface Owners extends JpaRepository<Entities.Owner, Long> {

        List<Entities.Owner> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);
    }

    interface Pets extends JpaRepository<Entities.Pet, Long> {

        List<Entities.Pet> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);

        @Query("select e from Pet e join fetch e.owner where e.name = :name")
        List<Entities.Pet> findWithOwner(String name);
    }

    interface Visits extends JpaRepository<Entities.Visit, Long> {

        List<Entities.Visit> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);

        @Query("select e from Visit e join fetch e.pet where e.name = :name")
        List<Entities.Visit> findWithPet(String name);
    }

    interface Vets extends JpaRepository<Entities.Vet, Long> {

        List<Entities.Vet> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);
    }

    interface Specialties extends JpaRepository<Entities.Specialty, Long> {

        List<Entities.Specialty> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);

        @Query("select e from Specialty e join fetch e.vet where e.name = :name")
        List<Entities.Specialty> findWithVet(String name);
    }

    interface PetTypes extends JpaRepository<Entities.PetType, Long> {

        List<Entities.PetType> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);
    }

    interface Rooms extends JpaRepository<Entities.Room, Long> {

        List<Entities.Room> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);
    }

    interface Invoices extends JpaRepository<Entities.Invoice, Long> {

        List<Entities.Invoice> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);

        @Query("select e from Invoice e join fetch e.owner where e.name = :name")
        List<Entities.Invoice> findWithOwner(String name);
    }

    interface InvoiceLines extends JpaRepository<Entities.InvoiceLine, Long> {

        List<Entities.InvoiceLine> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);

        @Query("select e from InvoiceLine e join fetch e.invoice where e.name = :name")
        List<Entities.InvoiceLine> findWithInvoice(String name);
    }

    interface Medicines extends JpaRepository<Entities.Medicine, Long> {

        List<Entities.Medicine> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);
    }

    interface Prescriptions extends JpaRepository<Entities.Prescription, Long> {

        List<Entities.Prescription> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);

        @Query("select e from Prescription e join fetch e.medicine where e.name = :name")
        List<Entities.Prescription> findWithMedicine(String name);
    }

    interface Appointments extends JpaRepository<Entities.Appointment, Long> {

        List<Entities.Appointment> findByNameStartingWithAndSinceAfterOrderByName(String name, LocalDate since);

        @Query("select e from Appointment e join fetch e.room where e.name = :name")
        List<Entities.Appointment> findWithRoom(String name);
    }
}
